"""Tensors from constants and random draws: the leaves of a program."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError, ShapeError
from gradcli.interpreter.from_data import as_tensor, from_numpy, tensor
from gradcli.interpreter.leaves import FLOAT, INTEGER, leaf, plain, sizes


def filled(name: str, fill: Callable[[tuple[int, ...], np.dtype], Any]) -> Callable[..., Tensor]:
    """A function f(*size, dtype=None, requires_grad=False)."""

    def create(*size: Any, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
        given = options.pop("size", options.pop("shape", None))
        plain(options, name)
        return leaf(fill(sizes(size if given is None else (given,), name), FLOAT if dtype is None else np.dtype(dtype)), requires_grad)

    create.__name__ = create.__qualname__ = name
    return create


def filled_like(name: str, fill: Callable[[tuple[int, ...], np.dtype], Any]) -> Callable[..., Tensor]:
    """A function f(input, dtype=None, requires_grad=False) with the shape and dtype of its input."""

    def create(input: Tensor, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
        plain(options, name)
        return leaf(fill(sizes((tensor_of(input, name).shape,), name), input.dtype if dtype is None else np.dtype(dtype)), requires_grad)

    create.__name__ = create.__qualname__ = name
    return create


def tensor_of(value: Any, name: str) -> Tensor:
    if not isinstance(value, Tensor):
        raise ArgumentError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(value).__name__}")
    return value


def normal_draw(shape: tuple[int, ...], dtype: np.dtype) -> Any:
    if dtype.kind == "c":  # a complex normal has variance 1 in all: half of it in each part
        real, imag = state.rng.standard_normal((2, *shape)) / np.sqrt(2.0)
        return draw(real + 1j * imag, dtype)
    return draw(state.rng.standard_normal(shape), dtype)


def uniform_draw(shape: tuple[int, ...], dtype: np.dtype) -> Any:
    if dtype.kind == "c":
        real, imag = state.rng.random((2, *shape))
        return draw(real + 1j * imag, dtype)
    return draw(state.rng.random(shape), dtype)


def draw(values: Any, dtype: np.dtype) -> Any:
    return np.asarray(values).astype(dtype, copy=False)


def full(size: Any, fill_value: Any = None, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    """A tensor of one value; the dtype is that of the value."""
    plain(options, "full")
    value = scalar(fill_value)
    shape = sizes(tuple(size) if isinstance(size, (tuple, list)) else (size,), "full")
    return leaf(np.full(shape, value, dtype_of(value) if dtype is None else np.dtype(dtype)), requires_grad)


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    """A tensor of one value with the shape and dtype of another."""
    plain(options, "full_like")
    shape = sizes((tensor_of(input, "full_like").shape,), "full_like")
    return leaf(np.full(shape, scalar(fill_value), input.dtype if dtype is None else np.dtype(dtype)), requires_grad)


def scalar(value: Any) -> Any:
    return value.value.item() if isinstance(value, Tensor) else value


def dtype_of(value: Any) -> np.dtype:
    if isinstance(value, bool):
        return np.dtype(np.bool_)
    if isinstance(value, int):
        return INTEGER
    return np.dtype(np.complex128) if isinstance(value, complex) else FLOAT


def eye(n: int, m: int | None = None, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    """The identity matrix."""
    plain(options, "eye")
    rows, columns = sizes((n, n if m is None else m), "eye")
    return leaf(np.eye(rows, columns, dtype=FLOAT if dtype is None else dtype), requires_grad)


def arange(start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    """start, start + step, ... below end; integers when all three are."""
    plain(options, "arange")
    first, last, step = (scalar(v) for v in ((0, start, step) if end is None else (start, end, step)))
    if step == 0:
        raise ShapeError("step must be nonzero")
    if (last - first) / step < 0:
        raise ShapeError("upper bound and lower bound inconsistent with step sign")
    count = math.ceil((last - first) / step)
    state.charge(count)
    kind = INTEGER if all(isinstance(v, int) for v in (first, last, step)) else FLOAT
    return leaf((first + step * np.arange(count)).astype(kind if dtype is None else dtype), requires_grad)


def linspace(start: Any, end: Any, steps: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    """`steps` numbers from start to end, both included."""
    plain(options, "linspace")
    (count,) = sizes((steps,), "linspace")
    return leaf(np.linspace(scalar(start), scalar(end), count, dtype=FLOAT if dtype is None else dtype), requires_grad)


def logspace(
    start: Any, end: Any, steps: Any, base: float = 10.0, *, dtype: Any = None, requires_grad: bool = False, **options: Any
) -> Tensor:
    """base ** start ... base ** end in equal ratios."""
    plain(options, "logspace")
    (count,) = sizes((steps,), "logspace")
    values = np.power(base, np.linspace(scalar(start), scalar(end), count))
    return leaf(values.astype(FLOAT if dtype is None else dtype), requires_grad)


def randint(low: Any, high: Any = None, size: Any = None, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    """Integers drawn from low (0 when left out) to high - 1."""
    plain(options, "randint")
    if size is None or isinstance(high, (tuple, list)):
        low, high, size = 0, low, high
    if low >= high:
        raise ShapeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return leaf(state.rng.integers(low, high, sizes((size,), "randint")).astype(INTEGER if dtype is None else dtype), requires_grad)


def randperm(n: int, *, dtype: Any = None, **options: Any) -> Tensor:
    """0 ... n - 1 in random order."""
    plain(options, "randperm")
    (count,) = sizes((n,), "randperm")
    return leaf(state.rng.permutation(count).astype(INTEGER if dtype is None else dtype))


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = (), *, requires_grad: bool = False) -> Tensor:
    """Numbers drawn uniformly from low to high."""
    shape = sizes((size,), "uniform")
    return leaf(np.asarray(state.rng.uniform(scalar(low), scalar(high), shape)), requires_grad)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, requires_grad: bool = False, **options: Any) -> Tensor:
    """Numbers drawn from normal distributions of the given mean and standard deviation."""
    plain(options, "normal")
    center, spread = (np.asarray(v.value if isinstance(v, Tensor) else v, dtype=float) for v in (mean, std))
    shape = sizes((size,), "normal") if size is not None else sizes((np.broadcast_shapes(center.shape, spread.shape),), "normal")
    return leaf(np.asarray(center + spread * state.rng.standard_normal(shape)), requires_grad)


def bernoulli(input: Tensor, **options: Any) -> Tensor:
    """1 with the probability that the input gives, else 0."""
    plain(options, "bernoulli")
    probabilities = tensor_of(input, "bernoulli").value
    return leaf(np.asarray(state.rng.random(input.shape) < probabilities).astype(input.dtype))


def manual_seed(seed: int) -> None:
    """Start the random generator from a number."""
    if not isinstance(seed, int):
        raise ArgumentError(f"manual_seed expected a long, but got {type(seed).__name__}")
    state.seeded(seed & (2**64 - 1))


CREATION: dict[str, Callable[..., Any]] = {
    **{f.__name__: f for f in (tensor, as_tensor, full, full_like, eye, arange, linspace, logspace)},
    **{f.__name__: f for f in (randint, randperm, uniform, normal, bernoulli, manual_seed)},
    "from_numpy": from_numpy, "asarray": as_tensor, "scalar_tensor": tensor,
    "zeros": filled("zeros", np.zeros), "ones": filled("ones", np.ones), "empty": filled("empty", np.zeros),
    "rand": filled("rand", uniform_draw), "randn": filled("randn", normal_draw),
    "zeros_like": filled_like("zeros_like", np.zeros), "ones_like": filled_like("ones_like", np.ones),
    "empty_like": filled_like("empty_like", np.zeros), "rand_like": filled_like("rand_like", uniform_draw),
    "randn_like": filled_like("randn_like", normal_draw),
}  # fmt: skip
