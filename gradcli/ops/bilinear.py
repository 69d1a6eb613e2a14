"""Products of three tensors, summed over some axes: bilinear layers."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.conjugate import conj
from gradcli.ops.matmul import Examples
from gradcli.ops.operation import Structural, Value
from gradcli.ops.shape import reshape

Axes = tuple[int, ...]


class Trilinear(Structural):
    """i1 * i2 * i3, each with new axes of length 1 at `expand1`, `expand2`, `expand3`, summed over the axes `sumdim`.

    (n, i), (o, i, j), (n, j) -> (n, o) with the new axes (1, 3), (0,), (1, 2) and the sum over (2, 3).
    """

    expand1: Axes
    expand2: Axes
    expand3: Axes
    sumdim: Axes

    def letters(self, ndim: int) -> list[str]:
        """A letter for each axis that an argument, and the result, has."""
        every = string.ascii_letters[: ndim + len(self.expand1)]
        gone = (self.expand1, self.expand2, self.expand3, self.sumdim)
        return ["".join(letter for k, letter in enumerate(every) if k not in axes) for axes in gone]

    def forward(self, i1: Value, i2: Value, i3: Value) -> Value:
        return self.summed((i1, i2, i3), (False, False, False))

    def summed(self, args: Sequence[Value], lead: Sequence[bool]) -> Value:
        *terms, out = self.letters(np.ndim(args[0]) - lead[0])
        named = [("Z" if batched else "") + term for term, batched in zip(terms, lead, strict=True)]
        return np.asarray(np.einsum(f"{','.join(named)}->{'Z' if any(lead) else ''}{out}", *args))[()]

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.summed(args, lead)

    def size(self, *args: Value) -> int:
        return self.work(*args)

    def work(self, *args: Value) -> int:
        lengths: dict[str, int] = {}
        for term, arg in zip(self.letters(np.ndim(args[0])), args, strict=False):
            lengths |= dict(zip(term, np.shape(arg), strict=False))
        return int(np.prod(list(lengths.values())))

    def vjp_i1(self, g: Value, i2: Value, i3: Value) -> Value:
        return Trilinear(expand1=self.sumdim, expand2=self.expand2, expand3=self.expand3, sumdim=self.expand1)(g, conj(i2), conj(i3))

    def vjp_i2(self, g: Value, i1: Value, i3: Value) -> Value:
        return Trilinear(expand1=self.expand1, expand2=self.sumdim, expand3=self.expand3, sumdim=self.expand2)(conj(i1), g, conj(i3))

    def vjp_i3(self, g: Value, i1: Value, i2: Value) -> Value:
        return Trilinear(expand1=self.expand1, expand2=self.expand2, expand3=self.sumdim, sumdim=self.expand3)(conj(i1), conj(i2), g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield (
            cls(expand1=(1, 3), expand2=(0,), expand3=(1, 2), sumdim=(2, 3)),
            (rng.normal(size=(2, 3)), rng.normal(size=(2, 3, 2)), rng.normal(size=(2, 2))),
        )


def bilinear(x: Value, input2: Value, weight: Value, bias: Value | None = None) -> Any:
    """out[..., o] = sum over i, j of x[..., i] * weight[o, i, j] * input2[..., j], plus bias[o]."""
    if x.shape[:-1] != input2.shape[:-1]:
        raise ShapeError(f"bilinear(): input batch dimensions do not match: got {list(x.shape)} and {list(input2.shape)}")
    if weight.ndim != 3 or weight.shape[1:] != (x.shape[-1], input2.shape[-1]):
        sizes = f"{x.shape[-1]} and {input2.shape[-1]}"
        raise ShapeError(f"bilinear(): weight of shape {list(weight.shape)} does not fit inputs of sizes {sizes}")
    first, second = (reshape(v, (-1, v.shape[-1])) for v in (x, input2))
    op = Trilinear(expand1=(1, 3), expand2=(0,), expand3=(1, 2), sumdim=(2, 3))
    out = reshape(op(first, weight, second), (*x.shape[:-1], weight.shape[0]))
    return out if bias is None else out + bias


OPERATIONS = (Trilinear,)
FUNCTIONS = (bilinear,)
