"""What Python's own syntax means on tensors: items, iteration, conversion to numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from gradcli.engine.mode import state
from gradcli.errors import ArgumentError, AutogradError, DataError
from gradcli.ops.indexing import getitem
from gradcli.ops.splitting import rows
from gradcli.ops.structure import rounded

SCALAR_WARNING = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using tensor.detach() first."
)


class Protocol:
    """The special methods of a tensor apart from its operators."""

    __slots__ = ()

    store: ClassVar[Callable[[Any, Any, Any], None]]
    """Writes an item; given by engine.items."""

    def __getitem__(self, index: Any) -> Any:
        return getitem(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        type(self).store(self, index, value)

    def __iter__(self) -> Iterator[Any]:
        return rows(self)

    def __contains__(self, item: Any) -> bool:
        return bool((self == item).any())

    def item(self) -> Any:
        """The only element as a number of Python; RuntimeError where there are more."""
        value = self.value  # type: ignore[attr-defined]
        if value.size != 1:
            raise AutogradError(f"a Tensor with {value.size} elements cannot be converted to Scalar", hint="take one element, or .tolist()")
        if state.tracer is not None and self.record() is not None:  # type: ignore[attr-defined]
            state.tracer.stop("item")
        return rounded(value).item()

    def tolist(self) -> Any:
        """The elements as nested lists of numbers of Python, a 0-d tensor as a number."""
        if state.tracer is not None and self.record() is not None:  # type: ignore[attr-defined]
            state.tracer.stop("item")
        return rounded(self.value).tolist()  # type: ignore[attr-defined]

    def _scalar(self) -> Any:
        if self.wants and not any(text == SCALAR_WARNING for text, _ in state.warned):  # type: ignore[attr-defined]
            state.warned.add((SCALAR_WARNING, 0))
            state.warn(SCALAR_WARNING, UserWarning)
        if self.value.size != 1:  # type: ignore[attr-defined]
            raise DataError("only one element tensors can be converted to Python scalars", hint="take one element, or .tolist()")
        return self.item()

    def __float__(self) -> float:
        return float(self._scalar())

    def __int__(self) -> int:
        return int(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        value = self.value  # type: ignore[attr-defined]
        if value.dtype.kind not in "biu" or value.size != 1:
            raise ArgumentError("only integer tensors of a single element can be converted to an index")
        return int(value.item())
