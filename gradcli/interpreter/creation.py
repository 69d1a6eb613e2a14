"""Tensors from data, constants and random draws: the leaves of a program."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.tensor import Tensor, require_grad
from gradcli.errors import ArgumentError, DataError, RangeError, ShapeError

FLOAT = np.dtype(np.float64)
INTEGER = np.dtype(np.int64)
IGNORED = frozenset({"device", "layout", "pin_memory", "memory_format", "generator", "out"})
"""Keywords of PyTorch that mean nothing here and are taken all the same, when they are None or say the default."""


def leaf(value: Any, requires_grad: bool = False) -> Tensor:
    """A new leaf; 0-d values as numpy scalars."""
    made = Tensor(value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value)
    return require_grad(made, True) if requires_grad else made


def sizes(given: tuple[Any, ...], name: str) -> tuple[int, ...]:
    """The shape that `f(2, 3)`, `f((2, 3))` or `f([2, 3])` means; charged before anything is allocated."""
    shape = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    lengths = [whole(n, name) for n in shape]
    for n in lengths:
        if n < 0:
            raise ShapeError(f"Trying to create tensor with negative dimension {n}: {lengths}")
    if len(lengths) > 32:
        raise ShapeError(f"{name}(): a tensor has at most 32 dimensions, not {len(lengths)}")
    state.charge(math.prod(lengths))
    return tuple(lengths)


def whole(value: Any, name: str) -> int:
    """A length given as an int or an integer tensor."""
    if isinstance(value, Tensor) and value.ndim == 0 and value.dtype.kind in "iu":
        value = int(value.value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentError(f"{name}(): argument 'size' must be tuple of ints, but found element of type {type(value).__name__}")
    return value


def plain(options: dict[str, Any], name: str) -> None:
    """Refuse keywords that the function does not have."""
    for key in options:
        if key not in IGNORED:
            raise ArgumentError(f"{name}() got an unexpected keyword argument '{key}'")


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
    return draw(state.rng.standard_normal(shape), dtype)


def uniform_draw(shape: tuple[int, ...], dtype: np.dtype) -> Any:
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


def randint(
    low: Any, high: Any = None, size: Any = None, *, dtype: Any = None, requires_grad: bool = False, **options: Any
) -> Tensor:
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
    state.rng = np.random.default_rng(seed & (2**64 - 1))


# ---- from data


def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    """A leaf that copies its data: a number, nested sequences of numbers or tensors, a tensor."""
    plain(options, "tensor")
    return leaf(array(data, dtype).copy(), requires_grad)


def as_tensor(data: Any, dtype: Any = None, **options: Any) -> Tensor:
    """The data as a tensor: itself when it is one of the right dtype."""
    plain(options, "as_tensor")
    if isinstance(data, Tensor) and dtype in (None, data.dtype):
        return data
    return leaf(array(data, dtype))


def legacy_tensor(*data: Any) -> Tensor:
    """torch.Tensor(data), torch.Tensor(2, 3): floating in any case."""
    if len(data) == 1 and isinstance(data[0], (list, tuple, Tensor)):
        return tensor(data[0], dtype=FLOAT)
    return leaf(np.zeros(sizes(data or (0,), "Tensor")))


def array(data: Any, dtype: Any = None) -> np.ndarray:
    """The numpy array that data means, with PyTorch's choice of dtype."""
    if isinstance(data, range):
        state.charge(max(0, (data.stop - data.start) // data.step))
        data = list(data)
    shape = shape_of(data)
    state.charge(math.prod(shape))
    value = np.asarray(data.value) if isinstance(data, Tensor) else numbers(data, shape)
    return value if dtype is None else value.astype(dtype)


def numbers(data: Any, shape: tuple[int, ...]) -> np.ndarray:
    flat: list[Any] = []
    flatten(data, len(shape), flat)
    return np.array(flat, dtype=common_dtype(flat)).reshape(shape)


def shape_of(data: Any) -> tuple[int, ...]:
    """The shape that the first items of nested sequences give."""
    shape: list[int] = []
    while isinstance(data, (list, tuple)):
        if len(shape) == 32:
            raise DataError("too many dimensions: a tensor has at most 32")
        shape.append(len(data))
        if not data:
            return tuple(shape)
        data = data[0]
    return (*shape, *data.shape) if isinstance(data, Tensor) else tuple(shape)


def flatten(data: Any, rank: int, flat: list[Any]) -> None:
    """Append the numbers of nested sequences of one rank, which must be of equal lengths."""
    if isinstance(data, Tensor):
        flat.extend(np.asarray(data.value).ravel().tolist())
        return
    level, depth = [data], 0
    while level and isinstance(level[0], (list, tuple)):
        expected = len(level[0])
        for row in level:
            if not isinstance(row, (list, tuple)):
                raise ArgumentError("not a sequence")
            if len(row) != expected:
                raise DataError(f"expected sequence of length {expected} at dim {depth} (got {len(row)})")
        level = [item for row in level for item in row]
        state.charge(len(level))
        depth += 1
    for item in level:
        append_number(item, rank - depth, flat)


def append_number(item: Any, rank: int, flat: list[Any]) -> None:
    if isinstance(item, Tensor):
        if rank == 0 and item.value.size != 1:
            raise DataError("only one element tensors can be converted to Python scalars")
        flat.extend(np.asarray(item.value).ravel().tolist())
    elif isinstance(item, (list, tuple)):
        raise DataError(f"expected a number, got a sequence of length {len(item)}: the rows are nested unequally")
    elif isinstance(item, (int, float, complex)):
        flat.append(item)
    elif isinstance(item, str):
        raise ArgumentError("new(): invalid data type 'str'")
    else:
        raise DataError(f"Could not infer dtype of {type(item).__name__}")


def common_dtype(flat: list[Any]) -> np.dtype:
    """float64 as soon as one number is a float, int64 for ints, bool for bools."""
    kinds = {type(v) for v in flat}
    if complex in kinds:
        return np.dtype(np.complex128)
    if float in kinds or not flat:
        return FLOAT
    if int not in kinds:
        return np.dtype(np.bool_)
    if any(not -(2**63) <= v < 2**63 for v in flat):
        raise RangeError("Overflow when unpacking long long")
    return INTEGER


CREATION: dict[str, Callable[..., Any]] = {
    **{f.__name__: f for f in (tensor, as_tensor, full, full_like, eye, arange, linspace, logspace)},
    **{f.__name__: f for f in (randint, randperm, uniform, normal, bernoulli, manual_seed)},
    "from_numpy": as_tensor, "asarray": as_tensor, "scalar_tensor": tensor,
    "zeros": filled("zeros", np.zeros), "ones": filled("ones", np.ones), "empty": filled("empty", np.zeros),
    "rand": filled("rand", uniform_draw), "randn": filled("randn", normal_draw),
    "zeros_like": filled_like("zeros_like", np.zeros), "ones_like": filled_like("ones_like", np.ones),
    "empty_like": filled_like("empty_like", np.zeros), "rand_like": filled_like("rand_like", uniform_draw),
    "randn_like": filled_like("randn_like", normal_draw),
}  # fmt: skip
