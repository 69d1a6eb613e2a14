"""Windows onto memory: a chain of views as one operation, and the write through it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.structure import is_finer


class Window(Structural):
    """What a chain of view operations shows of x: the history of a view after its base was written to."""

    node = "AsStridedBackward0"
    view = True
    chain: tuple[Operation, ...]

    def forward(self, x: Value) -> Value:
        for op in self.chain:
            x = _one(op, op.forward(x))
        return x

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        (x,) = args
        for op in self.chain:
            x = _one(op, op.batch([x], [True]))
        return x

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        shapes = [x_shape]
        for op in self.chain:
            shapes.append(np.shape(_one(op, op.forward(np.broadcast_to(0.0, shapes[-1])))))
        for op, shape in zip(reversed(self.chain), reversed(shapes[:-1])):
            g = op.vjp_x(g, *_shape_only(op, shape))  # type: ignore[attr-defined]
        return g

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        from gradcli.ops.indexing import Slice
        from gradcli.ops.transposition import Transpose

        yield cls(chain=(Transpose(dim0=-1, dim1=-2), Slice(dim=-1, start=0, stop=1, step=1))), (rng.normal(size=(2, 3)),)


class WriteWindow(Structural):
    """x with what its window shows replaced by y: an in-place write through a view, as a value."""

    node = "CopySlices"
    chain: tuple[Operation, ...]

    def forward(self, x: Value, y: Value) -> Value:
        out = np.array(x, dtype=self.dtype(x, y), copy=True, subok=True)
        Window(chain=self.chain).forward(out)[...] = y
        return out

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        (x, y), (x_lead, y_lead) = args, lead
        rows = len(x) if x_lead else len(y)
        out = np.array(x if x_lead else np.broadcast_to(x, (rows, *np.shape(x))), dtype=self.dtype(x[0] if x_lead else x, y), order="C")
        window = Window(chain=self.chain).batch([out], [True])
        if not window.flags.writeable:  # through an expansion
            return np.stack([self.forward(x[k] if x_lead else x, y[k] if y_lead else y) for k in range(rows)])
        window[...] = y if y_lead else np.broadcast_to(y, window.shape[1:])
        return out

    def dtype(self, x: Value, y: Value) -> Any:
        """That of x, or of both where y is finer; a window that shows complex numbers as pairs, or pairs as complex numbers, fixes it."""
        own, given = np.asarray(x).dtype, np.asarray(y).dtype
        turned = own.kind != "O" and Window(chain=self.chain).forward(np.asarray(x)).dtype != own
        return np.result_type(own, given) if not turned and (given.kind == "c" or is_finer(given)) else own

    def vjp_x(self, g: Value) -> Value:
        return WriteWindow(chain=self.chain)(g, 0.0)

    def vjp_y(self, g: Value, y_shape: tuple[int, ...]) -> Value:
        return Window(chain=self.chain)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        from gradcli.ops.indexing import Slice

        chain = (Slice(dim=-1, start=0, stop=2, step=1),)
        yield cls(chain=chain), (rng.normal(size=(2, 3)), rng.normal(size=(2, 2)))


def _one(op: Operation, out: Any) -> Any:
    """The result a chain goes on with: operations of several results carry their place in `output`."""
    return out


def _shape_only(op: Operation, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The arguments of a view's rule besides g: nothing, or the shape of its input."""
    index = op.rules[0][1] if op.rules[0] is not None else ()
    return (shape,) if index else ()
