"""Arrays of numpy as a program sees them: the memory of a tensor outside the graph, with numpy's text and numpy's names.

What is computed from one is never differentiated: to every reference it is a constant, and a write into it is a write
outside the graph. Underneath is a tensor without history, so that limits, views and messages are those of tensors.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.sharing import NO_NUMPY, shared
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError, AutogradError
from gradcli.interpreter.attributes import Table
from gradcli.interpreter.kinds import add_kind
from gradcli.interpreter.values import Kind
from gradcli.ops.structure import rounded

NUMBERS = (bool, int, float, complex)


def _binary(apply: Callable[[Any, Any], Any], *, reflected: bool = False) -> Callable[[Any, Any], Any]:
    """An operator: with a number or an array it gives an array, with a tensor a tensor (PyTorch has none for one that asks)."""

    def method(self: ndarray, other: Any) -> Any:
        if not isinstance(other, (ndarray, Tensor, *NUMBERS)):
            return NotImplemented
        if isinstance(other, Tensor) and other.asks and apply not in (operator.eq, operator.ne):
            raise AutogradError(NO_NUMPY, hint="make the array a tensor first: torch.from_numpy(...)")
        given = unwrapped(other)
        result = apply(given, self.tensor) if reflected else apply(self.tensor, given)
        return result if isinstance(other, Tensor) else wrapped(result)

    return method


def product(a: Tensor, b: Tensor) -> Tensor:
    """a @ b, which PyTorch refuses for two dtypes."""
    common = np.result_type(a.value, b.value)
    return a.to(common) @ b.to(common)  # type: ignore[no-any-return]


def _inplace(apply: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator that writes into the memory."""

    def method(self: ndarray, other: Any) -> Any:
        if not isinstance(other, (ndarray, *NUMBERS)):
            return NotImplemented
        apply(self.tensor, unwrapped(other))
        return self

    return method


def _unary(apply: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: wrapped(apply(self.tensor))


class ndarray:  # noqa: N801 - the name that Python's messages show
    """An array over the memory of `tensor`, which asks for no gradient; its version counter is its own: writes of numpy's count nowhere."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    @property
    def value(self) -> np.ndarray:
        return self.tensor.array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor.shape

    def __repr__(self) -> str:
        return repr(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return map(wrapped, iter(self.tensor))

    def __contains__(self, item: Any) -> bool:
        return bool((self.value == getattr(item, "value", item)).any())

    def __bool__(self) -> bool:
        if self.value.size != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
                if self.value.size
                else "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty."
            )
        return bool(self.value)

    def __float__(self) -> float:
        return float(one(self))

    def __int__(self) -> int:
        return int(one(self))

    def __index__(self) -> int:
        if self.shape or self.value.dtype.kind not in "biu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self.value)

    def __getitem__(self, index: Any) -> Any:
        return wrapped(self.tensor[unwrapped(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        given = unwrapped(value)
        self.tensor[unwrapped(index)] = Tensor(numbers(given)) if isinstance(given, (list, tuple)) else given

    __hash__ = None  # type: ignore[assignment]

    __add__, __radd__, __iadd__ = _binary(operator.add), _binary(operator.add, reflected=True), _inplace(operator.iadd)
    __sub__, __rsub__, __isub__ = _binary(operator.sub), _binary(operator.sub, reflected=True), _inplace(operator.isub)
    __mul__, __rmul__, __imul__ = _binary(operator.mul), _binary(operator.mul, reflected=True), _inplace(operator.imul)
    __truediv__, __rtruediv__, __itruediv__ = (
        _binary(operator.truediv), _binary(operator.truediv, reflected=True), _inplace(operator.itruediv),
    )  # fmt: skip
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv), _binary(operator.floordiv, reflected=True)
    __mod__, __rmod__ = _binary(operator.mod), _binary(operator.mod, reflected=True)
    __pow__, __rpow__, __ipow__ = _binary(operator.pow), _binary(operator.pow, reflected=True), _inplace(operator.ipow)
    __matmul__, __rmatmul__ = _binary(product), _binary(product, reflected=True)
    __and__, __or__, __xor__ = _binary(operator.and_), _binary(operator.or_), _binary(operator.xor)
    __eq__, __ne__ = _binary(operator.eq), _binary(operator.ne)
    __lt__, __le__, __gt__, __ge__ = _binary(operator.lt), _binary(operator.le), _binary(operator.gt), _binary(operator.ge)
    __neg__, __pos__, __abs__, __invert__ = _unary(operator.neg), _unary(operator.pos), _unary(abs), _unary(operator.invert)


class ArrayType:
    """The dtype of an array: `float64` where a tensor has `torch.float64`."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: np.dtype) -> None:
        self.dtype = dtype

    def __str__(self) -> str:
        return self.dtype.name

    def __repr__(self) -> str:
        return f"dtype('{self.dtype.name}')"

    def __eq__(self, other: object) -> bool:
        return dtype_of(other) == self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


def dtype_of(given: Any) -> np.dtype | None:
    """The dtype that a name, a type of Python's or a dtype stands for; None where it is none."""
    if isinstance(given, ArrayType):
        return given.dtype
    if isinstance(given, np.dtype):
        return given
    name = given.name if isinstance(given, Kind) else given
    found = {"float": "float64", "int": "int64", "complex": "complex128"}.get(name, name) if isinstance(name, str) else ""
    return np.dtype(found) if found in NAMED else None


NAMED = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex128", "complex64")


def one(array: ndarray) -> Any:
    """The only element."""
    if array.value.size != 1:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return array.value.item()


def numbers(values: Any) -> np.ndarray:
    """Nested lists of numbers as an array, counted first."""
    count, level = 0, [values]
    while level:
        inner = [item for part in level if isinstance(part, (list, tuple)) for item in part]
        count += len(inner)
        state.charge(len(inner))
        level = inner
    return np.array(values, dtype=None if count else np.float64)


def wrapped(result: Any) -> Any:
    """What an operation on tensors gave, as numpy gives it: tensors as arrays, those without axes as numbers."""
    if isinstance(result, Tensor):
        return ndarray(result) if result.ndim else result.value.item()
    return tuple(map(wrapped, result)) if isinstance(result, tuple) else result


def unwrapped(value: Any) -> Any:
    """Arrays as the tensors underneath, also inside lists and tuples."""
    if type(value) is ndarray:
        return value.tensor
    if type(value) in (list, tuple) and any(type(item) is ndarray for item in value):
        return type(value)(map(unwrapped, value))
    return value


def of_tensor(tensor: Tensor) -> ndarray:
    """The memory of a tensor as an array."""
    return ndarray(shared(tensor, ".numpy()"))


def tensor_on(array: ndarray) -> Tensor:
    """A tensor on the memory of an array."""
    return shared(array.tensor, "from_numpy")


def reduction(name: str, *keywords: str) -> Callable[..., Any]:
    """A method of numpy's that folds axes."""
    fold = getattr(np.ndarray, name)
    allowed = {"keepdims", *keywords}

    def call(a: ndarray, axis: Any = None, **options: Any) -> Any:
        unknown = next((key for key in options if key not in allowed), None)
        if unknown is not None:
            raise ArgumentError(f"{name}() got an unexpected keyword argument '{unknown}'")
        return made(fold(a.value, axis, **options))

    return call


def made(result: Any) -> Any:
    """An array or a number that numpy itself made."""
    if not isinstance(result, np.ndarray) or not result.ndim:
        return rounded(result).item()
    state.charge(result.size)
    return ndarray(Tensor(result))


def through(name: str) -> Callable[..., Any]:
    """A method that tensors have under the same name."""

    def call(a: ndarray, *args: Any, **options: Any) -> Any:
        return wrapped(getattr(a.tensor, name)(*map(unwrapped, args), **options))

    return call


def astype(a: ndarray, dtype: Any) -> Any:
    """A copy in another dtype."""
    chosen = dtype_of(dtype)
    if chosen is None:
        raise ArgumentError("astype(): not a dtype that tensors have", hint=f"one of {', '.join(NAMED)}")
    state.charge(a.value.size)
    return ndarray(Tensor(a.value.astype(chosen)))


def copied(a: ndarray) -> ndarray:
    state.charge(a.value.size)
    return ndarray(Tensor(a.value.copy()))


def flattened(a: ndarray) -> ndarray:
    state.charge(a.value.size)
    return ndarray(Tensor(a.value.flatten()))


def reshaped(a: ndarray, *shape: Any) -> ndarray:
    return ndarray(a.tensor.reshape(*shape))


def transposed(a: ndarray, *axes: Any) -> ndarray:
    order = axes[0] if len(axes) == 1 and isinstance(axes[0], (list, tuple)) else axes or range(len(a.shape))[::-1]
    return ndarray(a.tensor.permute(*order))


def fill(a: ndarray, value: Any) -> None:
    a.tensor.fill_(value)


METHODS: dict[str, Callable[..., Any]] = {
    "sum": reduction("sum"), "mean": reduction("mean"), "prod": reduction("prod"), "min": reduction("min"), "max": reduction("max"),
    "std": reduction("std", "ddof"), "var": reduction("var", "ddof"), "argmin": reduction("argmin"), "argmax": reduction("argmax"),
    "all": reduction("all"), "any": reduction("any"), "cumsum": reduction("cumsum"), "cumprod": reduction("cumprod"),
    "astype": astype, "copy": copied, "flatten": flattened, "ravel": flattened, "reshape": reshaped, "transpose": transposed, "fill": fill,
    "item": lambda a: a.tensor.item(), "tolist": lambda a: a.value.tolist(), "dot": through("matmul"), "round": through("round"),
    "clip": through("clip"), "squeeze": through("squeeze"), "conj": through("conj"), "trace": through("trace"),
}  # fmt: skip

PROPERTIES: dict[str, Callable[[ndarray], Any]] = {
    "shape": lambda a: a.shape, "ndim": lambda a: len(a.shape), "size": lambda a: int(a.value.size),
    "dtype": lambda a: ArrayType(a.value.dtype), "itemsize": lambda a: a.value.itemsize, "nbytes": lambda a: a.value.nbytes,
    "T": transposed, "real": lambda a: wrapped(a.tensor.real), "imag": lambda a: wrapped(a.tensor.imag),
}  # fmt: skip

ARRAY_TABLES: dict[type, Table] = {
    ndarray: Table("numpy.ndarray", PROPERTIES, METHODS),
    ArrayType: Table("dtype", {"name": str, "kind": lambda d: d.dtype.kind, "itemsize": lambda d: d.dtype.itemsize}),
}

NDARRAY = add_kind(ndarray, Kind("numpy.ndarray", (ndarray,)))
add_kind(ArrayType, Kind("numpy.dtype", (ArrayType,)))
