"""Shapes and dtypes: the operations that undo broadcasting, and casts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.conjugate import components
from gradcli.ops.operation import Operation, Structural, Value


class SumTo(Structural):
    """The sum over the axes along which `shape` was broadcast: the transpose of Expand. (…) -> shape."""

    node = "SumBackward1"
    shape: tuple[int, ...]
    steps: ClassVar[Callable[[SumTo, Value], Value]]
    """The sums and the reshape that PyTorch makes of it; given by ops.reduction."""

    def __call__(self, *args: Value) -> Value:
        return super().__call__(*args) if isinstance(args[0], (np.ndarray, np.generic)) else self.steps(*args)

    def axes(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Over which it sums, of a value of this shape."""
        extra = len(shape) - len(self.shape)
        return tuple(range(extra)) + tuple(k + extra for k, n in enumerate(self.shape) if n == 1 and shape[k + extra] != 1)

    def forward(self, x: Value) -> Value:
        x = np.asarray(x)
        axes = self.axes(x.shape)
        return np.add.reduce(x, axis=axes, keepdims=True).reshape(self.shape)[()] if axes else x

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        rows = len(args[0])
        padded = SumTo(shape=(rows, *(1,) * (args[0].ndim - 1 - len(self.shape)), *self.shape))
        return padded.forward(args[0]).reshape(rows, *self.shape)

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return Expand(shape=x_shape)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        yield cls(shape=(3,)), (rng.normal(size=(2, 3)),)
        yield cls(shape=(1, 3)), (rng.normal(size=(4, 2, 3)),)
        yield cls(shape=()), (rng.normal(size=(2, 3)),)


class Expand(Structural):
    """Repeats along axes of length 1 and new leading axes without copying. (…) -> shape."""

    saves = "self_sym_sizes=x_shape"
    view = True
    shape: tuple[int, ...]

    def forward(self, x: Value) -> Value:
        view = np.broadcast_to(x, self.shape)
        if isinstance(x, np.ndarray) and x.flags.writeable:
            view.flags.writeable = True
        return view if view.ndim else view[()]

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        (x,) = args
        missing = len(self.shape) - (x.ndim - 1)
        return np.broadcast_to(x.reshape(len(x), *(1,) * missing, *x.shape[1:]), (len(x), *self.shape))

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return SumTo(shape=x_shape)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        yield cls(shape=(2, 3)), (rng.normal(size=(3,)),)
        yield cls(shape=(4, 2, 3)), (rng.normal(size=(1, 3)),)
        yield cls(shape=(2, 2)), (rng.normal(size=()),)


class To(Structural):
    """A cast to `dtype`; the gradient is cast back. Complex to real keeps the real part."""

    saves = ""
    node = "ToCopyBackward0"
    analytic = False
    dtype: Any

    def forward(self, x: Value) -> Value:
        x = np.asarray(x)
        if np.dtype(self.dtype).kind == "O":  # into the storage of many digits: numbers that are meant to be exact need none
            return x[()]
        if is_finer(x.dtype):
            if np.dtype(self.dtype).kind not in "biu":
                return x
            x = x.astype(np.float64)
        if x.dtype.kind == "c" and np.dtype(self.dtype).kind != "c":
            x = x.real
        return x.astype(self.dtype)[()]

    def vjp_x(self, g: Value, x_dtype: Any) -> Value:
        return g if g.dtype == x_dtype else To(dtype=x_dtype)(g)

    def exact(self, *args: Value, decision: Any = None) -> Value:
        if np.dtype(self.dtype).kind in "biu":
            return self.forward(args[0])
        if np.dtype(self.dtype).kind == "c":
            return args[0]
        return components(args[0], "real")

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        yield cls(dtype=np.float64), (rng.normal(size=(2, 3)),)


class Copy(Structural):
    """y in place of x, broadcast to the shape of x: what `copy_` and an assignment to a slice write."""

    node = "CopyBackwards"

    def forward(self, x: Value, y: Value) -> Value:
        y = np.asarray(y)
        fits = y.ndim <= np.ndim(x) and all(n in (1, m) for n, m in zip(y.shape[::-1], np.shape(x)[::-1], strict=False))
        if not fits:
            raise expansion_error(np.shape(x), y.shape)
        return np.broadcast_to(y.astype(written_dtype(x, y), copy=False), np.shape(x)).copy()

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(*with_lead(args, lead))

    def vjp_x(self, g: Value) -> Value:
        return None

    def vjp_y(self, g: Value, y_shape: tuple[int, ...], y_dtype: Any) -> Value:
        g = SumTo(shape=y_shape)(g) if g.shape != y_shape else g
        return g if g.dtype == y_dtype else To(dtype=y_dtype)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        yield cls(), (rng.normal(size=(2, 3)), rng.normal(size=(3,)))


def written_dtype(x: Value, y: Value) -> Any:
    """The dtype of x, unless what is written cannot be held by it: finer and complex values stay what they are."""
    x_dtype, y_dtype = np.asarray(x).dtype, np.asarray(y).dtype
    return np.result_type(x_dtype, y_dtype) if y_dtype.kind == "c" or is_finer(y_dtype) else x_dtype


def is_finer(dtype: np.dtype) -> bool:
    """Whether numbers are in one of the storages that no program asks for, of high or extended precision: no cast rounds them."""
    return dtype.char in "OgG"


def rounded(value: Value) -> Value:
    """The numbers of finer storage as NumPy and Python take them, in double precision; any other as they are."""
    array = np.asarray(value)
    if not is_finer(array.dtype):
        return value
    wide = array.dtype.char == "G" or any(getattr(v, "is_complex", False) for v in array.flat)
    return np.asarray(array.astype(np.complex128 if wide else np.float64))[()]


def with_lead(args: Sequence[Value], lead: Sequence[bool]) -> tuple[Value, Value]:
    """x and y, which is written over x, both with the leading axis, and y with as many axes as x."""
    (x, y), (x_lead, y_lead) = args, lead
    rows = len(x) if x_lead else len(y)
    x = x if x_lead else np.broadcast_to(x, (rows, *np.shape(x)))
    if y_lead:
        y = np.reshape(y, (rows, *(1,) * (np.ndim(x) - np.ndim(y)), *np.shape(y)[1:]))
    return x, y


def expansion_error(target: tuple[int, ...], shape: tuple[int, ...]) -> ShapeError:
    """PyTorch's message for a shape that cannot be repeated to another."""
    if len(shape) > len(target):
        return ShapeError(
            f"The number of sizes provided ({len(target)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(shape)}): shape {list(shape)} doesn't fit into shape {list(target)}"
        )
    place = next(k for k in range(-len(shape), 0) if shape[k] not in (1, target[k]))
    return ShapeError(
        f"The expanded size of the tensor ({target[place]}) must match the existing size ({shape[place]}) at non-singleton dimension "
        f"{place + len(target)}.  Target sizes: {list(target)}.  Tensor sizes: {list(shape)}"
    )


class Fill(Structural):
    """The number y everywhere in place of x: what `fill_` and x[...] = y write. `form` numbers PyTorch's spellings.

    Shapes: any, kept; y (). Gradients: 0 for x, sum(g) for y.
    """

    node = "FillBackward0"
    form: int = 0

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.node = f"FillBackward{self.form}"

    def forward(self, x: Value, y: Value | float) -> Value:
        if np.ndim(y):
            raise ShapeError(f"fill_ only supports 0-dimension value tensor but got tensor with {np.ndim(y)} dimensions.")
        return np.full(np.shape(x), y, written_dtype(x, y))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        x, y = with_lead(args, lead)
        return np.array(np.broadcast_to(y, np.shape(x)), written_dtype(x, y))

    def vjp_x(self, g: Value) -> Value:
        return None

    def vjp_y(self, g: Value, y_dtype: Any) -> Value:
        g = SumTo(shape=())(g)
        return g if g.dtype == y_dtype else To(dtype=y_dtype)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        yield cls(), (rng.normal(size=(2, 3)), rng.normal(size=()))


class Zero(Structural):
    """Zeros in place of x: what `zero_` writes. Shapes: any, kept. Gradient: 0."""

    def forward(self, x: Value) -> Value:
        return np.zeros_like(x)

    def vjp_x(self, g: Value) -> Value:
        return None

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        yield cls(), (rng.normal(size=(2, 3)),)


OPERATIONS = (Expand, Copy, Fill, Zero)
