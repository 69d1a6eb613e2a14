"""`numpy`: the names that programs take from it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.tensor import Tensor
from gradcli.interpreter.arrays import METHODS, NDARRAY, dtype_of, ndarray, unwrapped, wrapped
from gradcli.interpreter.dtypes import DTYPES
from gradcli.interpreter.from_data import tensor
from gradcli.interpreter.mathematics import CONSTANTS
from gradcli.interpreter.values import module

SPELLINGS = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "arctan2": "atan2",
    "absolute": "abs", "fabs": "abs", "power": "pow", "multiply": "mul", "subtract": "sub", "divide": "div", "true_divide": "div",
    "negative": "neg", "concatenate": "cat", "array": "tensor", "asarray": "as_tensor", "amax": "amax", "amin": "amin",
    "take_along_axis": "take_along_dim", "degrees": "rad2deg", "radians": "deg2rad", "rint": "round", "conjugate": "conj",
    "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
    "mod": "remainder", "expand_dims": "unsqueeze", "repeat": "repeat_interleave",
    "random.rand": "rand", "random.randn": "randn", "random.seed": "manual_seed",
}  # fmt: skip

SAME_NAME = (
    "abs", "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "square", "sign",
    "floor", "ceil", "trunc", "round", "maximum", "minimum", "where", "sum", "mean", "prod", "max", "min", "var", "std", "cumsum",
    "cumprod",
    "argmax", "argmin", "sort", "argsort", "matmul", "dot", "outer", "inner", "kron", "trace", "diag", "tril", "triu", "transpose",
    "reshape",
    "squeeze", "stack", "vstack", "hstack", "dstack", "column_stack", "split", "flip", "roll", "tile", "clip", "zeros", "ones", "full",
    "eye",
    "arange", "linspace", "logspace", "empty", "zeros_like", "ones_like", "full_like", "empty_like", "meshgrid", "isnan", "isinf",
    "isfinite",
    "isclose", "allclose", "all", "any", "einsum", "tensordot", "hypot", "logaddexp", "logaddexp2", "fmax", "fmin", "fmod", "remainder",
    "add", "sinc", "nan_to_num", "median", "cross", "diff", "cov", "moveaxis", "swapaxes", "ravel", "broadcast_to", "copysign", "heaviside",
    "reciprocal", "float_power", "rot90", "fliplr", "flipud", "unique", "count_nonzero", "searchsorted", "ptp", "ndim", "i0", "conj",
    "real",
    "imag", "angle", "bitwise_and", "bitwise_or", "logical_and", "logical_or", "logical_not", "logical_xor", "nanmean", "nansum", "vdot",
    "atleast_1d", "atleast_2d", "atleast_3d", "interp", "trapezoid", "quantile", "percentile",
)  # fmt: skip

LINALG = ("norm", "det", "slogdet", "inv", "pinv", "solve", "cholesky", "qr", "eigh", "eigvalsh", "svd", "matrix_power", "matrix_rank")
ELEMENTWISE_ON_NUMBERS = frozenset(
    {
        "abs", "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt",
        "square", "sign",
        "floor", "ceil", "trunc", "maximum", "minimum", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "arctan2",
        "absolute",
        "fabs", "power", "hypot", "logaddexp", "fmax", "fmin", "fmod", "remainder", "mod", "degrees", "radians", "isnan", "isinf",
        "isfinite",
        "sinc", "reciprocal", "copysign",
    }
)  # fmt: skip
"""Functions that numpy applies to plain numbers."""


OPERANDS = ELEMENTWISE_ON_NUMBERS | {"allclose", "isclose", "dot", "matmul", "inner", "outer", "add", "multiply", "subtract", "divide"}
"""Functions in which a list is an array too, never a shape or some axes."""

TENSORS_ALONE = frozenset({"maximum", "minimum", "fmax", "fmin", "hypot", "arctan2", "logaddexp", "logaddexp2", "heaviside"})
"""Functions of which PyTorch's takes no numbers."""


def on_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors that takes numbers and lists as numpy does; numbers give a number."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(arg, Tensor) for arg in args):
            return function(*args, **kwargs)
        result = function(*[tensor(arg) if isinstance(arg, (int, float, complex, list, tuple)) else arg for arg in args], **kwargs)
        return result.value.item() if result.ndim == 0 else result

    return call


def on_operands(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors alone, whose operands may be numbers and lists as in numpy."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*[tensor(arg) if isinstance(arg, (int, float, complex, list, tuple)) else arg for arg in args], **kwargs)

    return call


def on_arrays(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes arrays besides: from arrays alone it gives an array, as numpy's method of that name where there is one."""
    own = METHODS.get(name)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [unwrapped(arg) for arg in args]
        if all(new is old for new, old in zip(given, args)) and not any(type(value) is ndarray for value in kwargs.values()):
            return function(*args, **kwargs)
        if any(isinstance(arg, Tensor) for arg in args):
            return function(*given, **{key: unwrapped(value) for key, value in kwargs.items()})
        if own is not None and type(args[0]) is ndarray:
            return own(*args, **kwargs)
        if name in OPERANDS:
            given = of_one_dtype([tensor(value) if isinstance(value, (int, float, complex, list, tuple)) else value for value in given])
        return wrapped(function(*given, **{key: unwrapped(value) for key, value in kwargs.items()}))

    return call


def of_one_dtype(values: list[Any]) -> list[Any]:
    """Tensors cast to the dtype in which numpy computes."""
    dtype = np.result_type(*[value.dtype for value in values if isinstance(value, Tensor)])
    return [value.to(dtype) if isinstance(value, Tensor) and value.dtype != dtype else value for value in values]


def creating(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes an array, of a function that makes a tensor."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        dtype = dtype_of(kwargs.pop("dtype", None))
        result = function(*map(unwrapped, args), **kwargs, **({} if dtype is None else {"dtype": dtype}))
        return ndarray(result) if isinstance(result, Tensor) else result

    return call


CREATION = frozenset(
    {
        "array", "asarray", "zeros", "ones", "full", "eye", "arange", "linspace", "logspace", "empty", "zeros_like", "ones_like",
        "full_like", "empty_like",
    }
)  # fmt: skip


def numpy_members(torch: dict[str, Any], *, arrays: bool = False) -> dict[str, module]:
    """`numpy` and what is under it.

    In a file that has torch too, `arrays`, what numpy makes is an array; in one that has numpy alone it is a tensor, to
    be differentiated like any other.
    """
    members: dict[str, Any] = dict(CONSTANTS) | DTYPES | {"newaxis": None, "bool_": np.dtype(np.bool_)}
    for name in (*SAME_NAME, *SPELLINGS):
        target = SPELLINGS.get(name, name)
        if target in torch and "." not in name:
            function = on_operands(torch[target]) if name in TENSORS_ALONE else torch[target]
            if arrays and name in CREATION:
                members[name] = creating(function)
            else:
                members[name] = on_arrays(name, on_numbers(function) if name in ELEMENTWISE_ON_NUMBERS else function)
    linear = torch["linalg"].members
    members["linalg"] = module("numpy.linalg", {name: on_arrays(f"linalg.{name}", linear[name]) for name in LINALG if name in linear})
    drawn = {"rand": "rand", "randn": "randn", "seed": "manual_seed"}
    members["random"] = module(
        "numpy.random", {name: creating(torch[target]) if arrays else torch[target] for name, target in drawn.items() if target in torch}
    )
    members["ndarray"] = NDARRAY if arrays else torch["Tensor"]
    return {"numpy": module("numpy", members), "numpy.linalg": members["linalg"], "numpy.random": members["random"]}
