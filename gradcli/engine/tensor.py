"""Tensor: a numpy value with a place in the graph."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gradcli.engine.forbidden import outdated
from gradcli.engine.mode import state
from gradcli.engine.node import AccumulateGrad, Edge, Node
from gradcli.engine.operators import Operators
from gradcli.engine.printing import tensor_text
from gradcli.engine.protocol import Protocol
from gradcli.engine.trace import Record
from gradcli.engine.version import UNTRACKED, Version
from gradcli.errors import AutogradError, DtypeError
from gradcli.ops.conjugate import of_pairs
from gradcli.ops.operation import Operation
from gradcli.ops.window import Window


class ViewOf:
    """How a tensor shows the memory of another: `base` through `chain`, current as of version `seen`.

    `kind` is "" for an ordinary view, "multi" for one of several results of one operation, "no_grad" for one made
    without recording, "custom" for one made in a user Function: these may not be written to while gradients are recorded.
    """

    __slots__ = ("base", "chain", "kind", "seen")

    def __init__(self, base: Tensor, chain: tuple[Operation, ...], seen: int, kind: str) -> None:
        self.base = base
        self.chain = chain
        self.seen = seen
        self.kind = kind


class Tensor(Operators, Protocol):
    """An array with a gradient.

    value          numpy array, or numpy scalar for a 0-d result
    wants          whether a gradient is wanted for it or flows through it, as far as is known: `requires_grad` looks at a view's base first
    node           the graph node that made it; None for a leaf
    counter        its Version; None as long as nobody has asked for it
    shares         ViewOf for a view, else None
    origin         the tensor whose memory this one shares outside the graph (detach, .data), while a run is traced
    own_record     its Record while a run is traced, else None; for a view `traced` is the record of the base that it shows

    What PyTorch's tensors have besides (`grad`, `data`, `backward`, ...) comes from the tables of engine.members, the operations
    from the catalogue: no name of this class may be one of theirs.

    """

    __slots__ = (
        "__weakref__", "_accumulator", "_grad", "counter", "hooks", "node", "origin", "output_nr", "own_record", "post_hooks",
        "retained", "shares", "traced", "value", "wants",
    )  # fmt: skip
    __operation_priority__ = 2
    __operation__: ClassVar[Callable[[Operation, tuple[Any, ...]], Any]]
    """Applies an operation: `apply`, given by engine.apply."""
    shown: ClassVar[Callable[[Tensor], Node]]
    """The node of a view that was written to through its base; given by engine.apply."""
    method: ClassVar[Callable[[Tensor, str], Any]]
    """The method of a name, bound; given by engine.methods."""
    requires_grad: bool
    grad: Tensor | None
    data: Any
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Whatever the tables and the catalogue have."""

    def __init__(self, value: Any, requires_grad: bool = False) -> None:
        self.value = value
        self.wants = requires_grad
        self.counter: Version | None = state.counter
        self.node: Node | None = None
        self.output_nr = 0
        self.shares: ViewOf | None = None
        self.origin: Tensor | None = None
        self.own_record: Record | None = None
        self.traced: Record | None = None
        self.hooks: dict[int, Callable[..., Any]] | None = None
        self.post_hooks: dict[int, Callable[..., Any]] | None = None
        self.retained = False
        self._grad: Tensor | None = None
        self._accumulator: weakref.ref[AccumulateGrad] | None = None

    @classmethod
    def saved(cls, value: Any, edge: Edge | None, record: Record | None) -> Any:
        """A value that a node kept, again as a tensor with its history."""
        if edge is None:
            return cls(np.asarray(value)[()] if isinstance(value, (int, float, complex)) else value)
        node, output_nr = edge
        if isinstance(node, AccumulateGrad):
            return node.variable
        tensor = cls(value, True)
        tensor.node, tensor.output_nr, tensor.own_record = node, output_nr, record
        return tensor

    # ---- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return len(self.value.shape)

    @property
    def size_(self) -> int:
        return int(self.value.size)

    @property
    def dtype(self) -> np.dtype:
        return dtype_of(self.value)

    @property
    def is_leaf(self) -> bool:
        return self.grad_fn is None

    @property
    def is_floating(self) -> bool:
        """Floating or complex: able to ask for gradients."""
        return self.value.dtype.kind in "fcO"

    @property
    def version(self) -> Version:
        """Counts in-place writes to its memory."""
        if self.counter is None:
            self.counter = Version()
        return self.counter

    @property
    def untracked(self) -> bool:
        return self.counter is UNTRACKED

    @property
    def grad_fn(self) -> Node | None:
        self.refresh()
        return self.node

    @property
    def would_ask(self) -> bool:
        """The same without looking at the history of a view."""
        return self.wants or (self.shares is not None and self.shares.base.wants)

    @property
    def asks(self) -> bool:
        """`requires_grad` as a program sees it: a view asks when its base does."""
        if self.shares is not None and not self.shares.kind:
            self.refresh()
        return self.would_ask

    @property
    def array(self) -> np.ndarray:
        """The value as an array that can be written to and shared; nodes that kept a scalar follow it there."""
        value = self.value
        if not isinstance(value, np.ndarray):
            self.value = np.array(value)
            self.version.move(value, self.value)
        return self.value  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return tensor_text(self)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __bool__(self) -> bool:
        if self.size_ > 1:
            raise AutogradError(
                "Boolean value of Tensor with more than one value is ambiguous", hint="use .all(), .any(), or a comparison of one element"
            )
        if not self.size_:
            raise AutogradError("Boolean value of Tensor with no values is ambiguous")
        return bool(self.value.reshape(-1)[0])

    # ---- its place in the graph

    def edge(self) -> Edge | None:
        """Where its gradient goes: None when it asks for none."""
        if not self.wants:
            return None
        node = self.node
        return (self.accumulator(), 0) if node is None else (node, self.output_nr)

    def accumulator(self) -> AccumulateGrad:
        """The node where the gradient of a leaf ends; it lives as long as some graph leads to it."""
        found = self._accumulator() if self._accumulator is not None else None
        if found is None:
            found = AccumulateGrad(self)
            self._accumulator = weakref.ref(found)
        return found

    def refresh(self) -> None:
        """Give a view whose base was written to since the history of what it now shows."""
        view = self.shares
        if view is None or self.untracked or view.seen == self.version.count:
            return
        base = view.base
        base.refresh()
        if self.node is None and not base.wants:
            return
        if view.kind:
            if state.grad:
                raise outdated(self)
            return
        view.seen = self.version.count
        self.wants = True
        self.output_nr = 0
        self.node = Tensor.shown(self)

    def record(self) -> Record | None:
        """Its trace record, made now for a leaf; None for a constant."""
        tracer = state.tracer
        if tracer is None:
            return None
        view = self.shares
        if view is not None and (view.kind != "no_grad" or tracer.inside):
            root = view.base.record()
            if root is not self.traced:
                self.traced, self.own_record = root, None
                if root is not None:
                    op = Window(chain=view.chain)
                    self.own_record = tracer.record(op, (root,), [root.value], op.forward(root.value))[0]
        if self.own_record is None and self.wants and self.node is None and (view is None or not view.kind):
            self.own_record = tracer.leaf(self)
        return self.own_record


FLOAT64 = np.dtype(np.float64)
COMPLEX128 = np.dtype(np.complex128)


def dtype_of(value: Any) -> np.dtype:
    """The dtype of a value, of high-precision numbers that of the numbers in their place."""
    dtype: np.dtype = value.dtype
    if dtype.kind == "O":
        return COMPLEX128 if of_pairs(value) else FLOAT64
    return dtype


def tensor(data: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A leaf from data: numbers, nested sequences, arrays. Python floats become float64, ints int64.

    Raises RuntimeError when a gradient is asked for and the dtype is not floating or complex.
    """
    value = np.array(data, dtype=dtype)[()]
    result = Tensor(value)
    state.charge(result.size_)
    if requires_grad:
        require_grad(result, True)
    return result


def require_grad(target: Tensor, flag: Any) -> Tensor:
    """Switch `requires_grad`, in place, under PyTorch's rules."""
    if not isinstance(flag, bool):
        raise AutogradError("requires_grad must be a bool", hint="write True or False")
    if flag and not target.is_floating:
        raise DtypeError(
            "only Tensors of floating point and complex dtype can require gradients", hint="make it floating: tensor([1., 2.]) or .double()"
        )
    if flag and target.untracked and not state.inference:
        raise AutogradError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
    if not flag and target.grad_fn is not None:
        raise AutogradError(
            "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph "
            "that doesn't require differentiation use var_no_grad = var.detach()."
        )
    if flag and state.storage is not None and target.value.dtype.kind in "fc":
        target.value = state.storage.leaf(target.value)
    target.wants = flag
    return target
