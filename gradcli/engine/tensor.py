"""Tensor: a numpy value with a place in the graph."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gradcli.engine.forbidden import outdated
from gradcli.engine.mode import state
from gradcli.engine.node import AccumulateGrad, Edge, Form, Node, OperationNode
from gradcli.engine.operators import Operators
from gradcli.engine.printing import tensor_text
from gradcli.engine.protocol import Protocol
from gradcli.engine.trace import Record, Tracer, snapshot
from gradcli.engine.version import UNTRACKED, Version
from gradcli.errors import AutogradError, DataError, DtypeError, ShapeError
from gradcli.ops.budget import budget
from gradcli.ops.conjugate import of_pairs
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation
from gradcli.ops.promotion import promote
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
    """Applies an operation: `apply`."""
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
        """A value that a node kept, again as a tensor with its history; numbers stay numbers."""
        if edge is None:
            return value if isinstance(value, (int, float, complex)) and not isinstance(value, np.generic) else cls(value)
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
        self.node = make_node(Window(chain=view.chain), (base,), [base.value], int(base.wants), self.value, (self,))

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


float64, ndarray = np.float64, np.ndarray
FLOAT64 = np.dtype(float64)
COMPLEX128 = np.dtype(np.complex128)


def dtype_of(value: Any) -> np.dtype:
    """The dtype of a value, of high-precision numbers that of the numbers in their place."""
    dtype: np.dtype = value.dtype
    if dtype.kind == "O":
        return COMPLEX128 if of_pairs(value) else FLOAT64
    return dtype


SCALAR: tuple[Form, ...] = (((), FLOAT64),)
"""The form of the usual 0-d result."""

NEVER = Version()
"""The version of what is no tensor: nothing writes to it."""


def apply(op: Operation, args: tuple[Any, ...]) -> Any:
    """Apply an operation to tensors (and plain values): compute, and record a node where a gradient is asked for."""
    values: list[Any] = []
    edges: list[Edge | None] = []
    ordinary = plain = op.ordinary
    recording = state.grad and (ordinary or op.differentiable)
    mask, bit, lost = 0, 1, False  # lost: the gradient of a view that was made before its base was asked goes nowhere
    for arg in args:
        edge = None
        if type(arg) is Tensor:
            if arg.shares is not None:
                arg.refresh()
                lost |= recording and not arg.wants and arg.would_ask
            value = arg.value
            if recording and arg.wants:
                mask |= bit
                node = arg.node
                edge = (arg.accumulator(), 0) if node is None else (node, arg.output_nr)
            if type(value) is not float64:
                plain = False
        else:
            value = arg
            if type(arg) is ndarray:
                plain = False
        values.append(value)
        edges.append(edge)
        bit <<= 1
    out = op.forward(*values) if plain else evaluate(op, args, values)
    if type(out) is tuple:
        return _apply_several(op, args, values, edges, mask, out)
    result = Tensor(out)
    if (mask or lost) and (plain or out.dtype.kind in "fcO"):
        result.wants = True
        result.node = node_of(op, args, values, edges, mask, out, (result,))
    if not ordinary and op.view:
        _share(result, args[0], op)
    if state.tracer is not None:
        _follow(op, args, values, out, (result,))
    return result


Tensor.__operation__ = staticmethod(apply)


LARGE = 1 << 16
"""A view of fewer elements than this is never beyond a limit."""


def evaluate(op: Operation, args: tuple[Any, ...], values: list[Any]) -> Any:
    """The result of an operation over arrays: dtypes promoted, the limit on elements asked first, PyTorch's message for shapes."""
    if len(args) > 1 and isinstance(op, Elementwise) and sum([type(arg) is Tensor for arg in args]) > 1:
        values[:] = promote(values)
    if op.real_only:
        refuse_complex(op, values)
    if op.view:
        values[0] = args[0].array
    if op.heavy:
        budget.work(op.work(*values))
    size = op.size(*values)
    if size:
        state.charge(size)
    try:
        out = op(*values)
    except DataError:
        raise
    except ValueError as error:
        raise broadcast_error(values) or error from error
    if op.view:
        if type(out) is np.ndarray and out.size > LARGE:
            budget.elements(out.size)
    elif not size:
        state.charge(sum(v.size for v in out) if type(out) is tuple else out.size)
    return out


def refuse_complex(op: Operation, values: Sequence[Any]) -> None:
    """PyTorch's error for an operation that has no complex form."""
    for value in values:
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "c":
            dtype = "ComplexDouble" if value.dtype == np.complex128 else "ComplexFloat"
            hint = "it is for real numbers: .abs(), .real or .imag give some"
            raise DtypeError(f"\"{op.name}\" not implemented for '{dtype}'", hint=hint)


def broadcast_error(values: list[Any]) -> ShapeError | None:
    """PyTorch's message for the first two shapes that do not broadcast; None when they all do."""
    shapes = [np.shape(v) for v in values]
    for a, b in itertools.pairwise(shapes):
        for k in range(1, min(len(a), len(b)) + 1):
            if a[-k] != b[-k] and 1 not in (a[-k], b[-k]):
                axis = max(len(a), len(b)) - k
                return ShapeError(
                    f"The size of tensor a ({a[-k]}) must match the size of tensor b ({b[-k]}) at non-singleton dimension {axis}",
                    hint=f"shapes {list(a)} and {list(b)} do not broadcast: counted from the end, axes must be equal or 1",
                )
    return None


def _apply_several(
    op: Operation, args: tuple[Any, ...], values: list[Any], edges: list[Edge | None], mask: int, out: tuple[Any, ...]
) -> tuple[Tensor, ...]:
    """The results of an operation with several: one node, an output number each."""
    results = tuple(Tensor(value) for value in out)
    if mask:
        node = node_of(op, args, values, edges, mask, out, results)
        for k, result in enumerate(results):
            if result.is_floating:
                result.wants, result.node, result.output_nr = True, node, k
    if op.view:
        for k, result in enumerate(results):
            _share(result, args[0], op.part(k), "multi")
    if state.tracer is not None:
        _follow(op, args, values, out, results)
    return results


def make_node(op: Operation, args: tuple[Any, ...], values: list[Any], mask: int, out: Any, results: tuple[Tensor, ...]) -> OperationNode:
    """The node of an operation whose inputs of `mask` ask for gradients."""
    edges = [arg.edge() if type(arg) is Tensor else None for arg in args]
    return node_of(op, args, values, edges, mask, out, results)


def node_of(
    op: Operation,
    args: tuple[Any, ...],
    values: list[Any],
    edges: list[Edge | None],
    mask: int,
    out: Any,
    results: tuple[Tensor, ...],
) -> OperationNode:
    """The node of an operation, with what its rules need."""
    plan = op.plans.get(mask | 1 << len(args)) or op.plan(mask, len(args))
    kept = plan.kept
    saved, guards = kept_by(kept, args, values) if kept else NOTHING
    if plan.keeps_out:
        saved = (*saved, out)
        for result in results:
            guards = (*guards, result.version, result.version.count)
    if plan.about:
        saved = (*saved, *kept_about(op, plan.about, len(args), values))
    if type(out) is float64:
        made = OperationNode(op, tuple(edges), SCALAR, plan, saved, guards, None)
    else:
        shapes = tuple([(v.shape, v.dtype) for v in out]) if type(out) is tuple else ((out.shape, out.dtype),)
        made = OperationNode(op, tuple(edges), shapes, plan, saved, guards, fits(op, values, mask, out))
    if state.frame is not None:
        state.frame.pack(made)
    tracer = state.tracer
    if tracer is not None and tracer.following:
        made.records = tuple(arg.record() if type(arg) is Tensor else None for arg in args)
    return made


NOTHING: tuple[tuple[Any, ...], tuple[Any, ...]] = ((), ())
"""What an operation keeps that needs nothing."""


def kept_by(kept: tuple[int, ...], args: tuple[Any, ...], values: list[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The arguments at the places `kept`, and the version that each has now."""
    if len(kept) == 1:
        (slot,) = kept
        arg = args[slot]
        version = (arg.counter or arg.version) if type(arg) is Tensor else NEVER
        return (values[slot],), (version, version.count)
    guards: list[Any] = []
    for slot in kept:
        arg = args[slot]
        version = (arg.counter or arg.version) if type(arg) is Tensor else NEVER
        guards += (version, version.count)
    return tuple(map(values.__getitem__, kept)), tuple(guards)


def kept_about(op: Operation, slots: tuple[int, ...], count: int, values: list[Any]) -> Iterator[Any]:
    """What rules ask about arguments without keeping them: a shape, a dtype, the decision taken, what was put aside."""
    for slot in slots:
        if slot <= 2 * count:
            yield np.shape(values[slot - count - 1])
        elif slot == 3 * count + 2:
            yield op.aside(*values)
        elif slot > 3 * count + 2:
            value = np.asarray(values[slot - 3 * count - 3])
            yield tuple(s // value.itemsize for s in value.strides)
        else:
            yield op.decide(*values) if slot == 2 * count + 1 else np.asarray(values[slot - 2 * count - 2]).dtype


def fits(op: Operation, values: list[Any], mask: int, out: Any) -> tuple[Any, ...] | None:
    """The (shape, dtype) each gradient is reduced to, None where every input is like the output."""
    if type(out) is tuple:
        return None
    shape, dtype = out.shape, dtype_of(out)
    elementwise = isinstance(op, Elementwise)
    for k, value in enumerate(values):
        if mask >> k & 1 and ((elementwise and value.shape != shape) or dtype_of(value) != dtype):
            return tuple((v.shape if elementwise else None, dtype_of(v)) if mask >> i & 1 else None for i, v in enumerate(values))
    return None


def _share(result: Tensor, source: Tensor, op: Operation, kind: str = "") -> None:
    """Make `result` a view of `source`."""
    result.counter = source.version
    root = source.shares
    if not state.grad:
        kind = kind or "no_grad"
        result.wants = source.wants
    base, chain = (source, (op,)) if root is None else (root.base, (*root.chain, op))
    if root is not None and root.kind:
        kind = root.kind
    seen = 0 if source.untracked else source.version.count
    result.shares = ViewOf(base, chain, seen, kind)
    if state.tracer is not None:
        result.traced = base.record()


def _follow(op: Operation, args: tuple[Any, ...], values: list[Any], out: Any, results: tuple[Tensor, ...]) -> None:
    """Tell the tracer of an operation: a record beside each result, a comparison, a constant made where gradients are off."""
    tracer = state.tracer
    assert tracer is not None
    if tracer.following and op.differentiable:
        _trace(tracer, op, args, values, out, results)
    elif tracer.following and op.compares and not tracer.passing:
        sides = tuple([(arg.record() if type(arg) is Tensor else None) or v for arg, v in zip(args, values, strict=True)])
        if Record in map(type, sides):
            tracer.test(op, sides, values)
    elif op.differentiable and not state.grad and not tracer.passing:
        held = tracer.holding(args) or ((state.span,) if any(type(a) is Tensor and a.record() is not None for a in args) else None)
        if held is not None:
            for result in results:
                tracer.hold(result, held[0])


def _trace(tracer: Tracer, op: Operation, args: tuple[Any, ...], values: list[Any], out: Any, results: tuple[Tensor, ...]) -> None:
    """Leave records beside the results when an input depends on a leaf."""
    records = tuple(arg.record() if type(arg) is Tensor else None for arg in args)
    held = tracer.holding(args) if tracer.held else None
    if not any(records):
        if held is not None:
            for result in results:
                tracer.hold(result, held[0])
        return
    if held is not None:
        tracer.stop("no_grad", held[0])
    inputs = tuple(snapshot(v) if r is None else r for r, v in zip(records, values, strict=False))
    made = tracer.record(op, inputs, values, out)
    for result, record in zip(results, made, strict=False):
        if result.is_floating:
            result.own_record = record
    node = results[0].node
    if isinstance(node, OperationNode):
        node.records = (*records, *made)


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
    if flag and state.lift is not None and target.value.dtype.kind in "fc":
        target.value = state.lift(target.value)
    target.wants = flag
    return target
