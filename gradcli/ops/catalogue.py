"""Every operation, and every function and method made of operations, by the name that users call it.

A family file lists its operation classes in `OPERATIONS` and its functions of operations in `FUNCTIONS`;
a function stands for an operation class of the same name. A function whose first parameter is `x` is a
method of tensors too; one whose first parameter is `tensors` takes a sequence of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

from gradcli.errors import ArgumentError
from gradcli.ops import (
    activation,
    affine,
    arithmetic,
    attention,
    bessel,
    bilinear,
    binary,
    bounds,
    casting,
    cholesky,
    classification,
    combining,
    comparison,
    complex,
    conjugate,
    convolution,
    determinant,
    diagonal,
    distance,
    einsum,
    error,
    exponential,
    extreme,
    fourier,
    gamma,
    gathering,
    gating,
    grids,
    hard,
    hinge,
    hyperbolic,
    incomplete,
    indexing,
    joining,
    logistic,
    lookup,
    loss,
    lu,
    margin,
    masking,
    matmul,
    matrix_function,
    moments,
    norm,
    normalization,
    numbered,
    ordering,
    orthogonal,
    overwriting,
    padding,
    patches,
    picking,
    polar,
    pooling,
    products,
    pseudoinverse,
    quantile,
    rearrange,
    reduction,
    remainder,
    resampling,
    rounding,
    running,
    scan,
    scattering,
    shape,
    shuffling,
    sinc,
    softmax,
    solve,
    splitting,
    structure,
    transposition,
    trigonometric,
    truth,
    unraised,
    where,
)
from gradcli.ops.accepted import fitted
from gradcli.ops.operation import Operation

FAMILIES: tuple[Any, ...] = (
    arithmetic, numbered, comparison, structure, where, exponential, logistic, trigonometric, hyperbolic, rounding, remainder, bounds,
    combining, error, gamma, incomplete, bessel, sinc, activation, hard, gating,
    matmul, conjugate, softmax, loss, classification,
    affine, bilinear,
    complex, fourier,
    convolution, pooling, normalization, resampling, shuffling, grids, attention,
    binary, margin, hinge, distance,
    pseudoinverse, lu, matrix_function,
    products, einsum, solve, determinant, cholesky, orthogonal,
    shape, transposition, reduction, moments, picking, extreme, indexing, joining, splitting, scan,
    diagonal, rearrange, padding, casting, gathering, scattering, masking, norm, truth, ordering, quantile, running, polar,
    lookup, overwriting, patches, unraised,
)  # fmt: skip

ALIASES = {
    "axis": "dim", "keepdims": "keepdim", "axes": "dims", "ddof": "correction", "input": "x", "self": "x", "a": "x", "other": "y", "b": "y",
    "x1": "x", "input1": "x", "anchor": "x", "A": "x",
}  # fmt: skip
"""Spellings of NumPy and PyTorch for one parameter."""

OPERATIONS: tuple[type[Operation], ...] = tuple(op for family in FAMILIES for op in getattr(family, "OPERATIONS", ()))


class OperationFunction:
    """The function of an operation class: its tensor arguments, then its parameters with their defaults."""

    def __init__(self, cls: type[Operation]) -> None:
        self.cls = cls
        self.plain = cls() if not cls.parameters else None
        self.__name__ = self.__qualname__ = cls.name
        self.__doc__ = cls.__doc__

    @cached_property
    def __signature__(self) -> inspect.Signature:
        parameter, cls = inspect.Parameter, self.cls
        kind = parameter.POSITIONAL_OR_KEYWORD
        optional = [
            parameter(name, kind, default=parameter.empty if default is ... else default) for name, default in cls.parameters.items()
        ]
        return inspect.Signature([parameter(name, kind) for name in cls.arguments] + optional)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        cls = self.cls
        if self.plain is not None and not kwargs and len(args) == len(cls.arguments):
            return self.plain(*args)
        values = self.__signature__.bind(*args, **kwargs).arguments
        return cls(**{k: v for k, v in values.items() if k in cls.parameters})(*[values[name] for name in cls.arguments])


def _collect() -> dict[str, Callable[..., Any]]:
    table: dict[str, Callable[..., Any]] = {}
    for family in FAMILIES:
        for cls in getattr(family, "OPERATIONS", ()):
            table[cls.name] = OperationFunction(cls)
        for function in getattr(family, "FUNCTIONS", ()):
            table[function.__name__.rstrip("_") or function.__name__] = function
        for name, target in getattr(family, "SPELLINGS", {}).items():
            table[name] = table[target] if isinstance(target, str) else target
    return table


FUNCTIONS: dict[str, Callable[..., Any]] = _collect()
"""Name -> function. Family files may list further names for a function, or for a name, in `SPELLINGS`."""


def first_parameter(function: Callable[..., Any]) -> str:
    """The name of a function's first parameter; of *args too."""
    if isinstance(function, OperationFunction):
        return next(iter((*function.cls.arguments, *function.cls.parameters)), "")
    return next(iter(function.__code__.co_varnames), "")


METHODS: dict[str, Callable[..., Any]] = {name: f for name, f in FUNCTIONS.items() if first_parameter(f) in ("x", "condition")}
"""Name -> function, for those whose first argument is the tensor itself."""


signature = cache(inspect.signature)
"""Looked at once for each function: it costs as much as several operations."""

FITTING: set[tuple[Any, ...]] = set()
"""Function, number of positional arguments, names of the others: the forms of calls that are known to fit."""


@cache
def keywords(function: Callable[..., Any]) -> tuple[frozenset[str], str | None]:
    """The names of a function's parameters, and of the one that takes any number of arguments."""
    parameters = signature(function).parameters
    return frozenset(parameters), next((n for n, p in parameters.items() if p.kind is p.VAR_POSITIONAL), None)


def call(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], is_tensor: Callable[[Any], bool], bound: int = 0
) -> Any:
    """Call a function as users do: spellings are translated, and a call that does not fit names the signature."""
    if kwargs:
        names, several = keywords(function)
        kwargs = {(ALIASES.get(k, k) if k not in names else k): v for k, v in kwargs.items()}
        if several in kwargs:
            args = (*args, kwargs.pop(several))
    if args and first_parameter(function) == "x" and not any(map(is_tensor, args)) and not any(map(is_tensor, kwargs.values())):
        raise ArgumentError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not {type(args[0]).__name__}", hint=f"write {name}(torch.tensor(...))"
        )
    form = (function, len(args), *kwargs)
    if form not in FITTING:
        try:
            signature(function).bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(f"{name}(): {error}; the signature is {name}{signature(function)}") from None
        FITTING.add(form)
    args, kwargs = fitted(name, function, args, kwargs, bound)
    return function(*args, **kwargs)
