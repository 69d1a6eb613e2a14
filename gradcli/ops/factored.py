"""What PyTorch's nodes keep of operations that it does by an LU factorisation; here it is made when a program asks for it."""

from __future__ import annotations

import numpy as np

from gradcli.ops import elimination
from gradcli.ops.operation import Operation, Value


def exchanges(order: np.ndarray, count: int) -> np.ndarray:
    """Successive exchanges of rows (from 1) that lead to an order of rows."""
    now = list(range(len(order)))
    pivots = []
    for k in range(count):
        at = now.index(int(order[k]))
        now[k], now[at] = now[at], now[k]
        pivots.append(at + 1)
    return np.array(pivots, dtype=np.int32)


class Factored(Operation, abstract=True):
    """An operation on a matrix x of which PyTorch keeps both triangular factors in one matrix, and the exchanges of rows."""

    def LU(self, x: Value) -> Value:
        return elimination.each(lambda a: elimination.factor(a)[0], (x,), (2,))

    def pivots(self, x: Value) -> Value:
        count = min(x.shape[-2:])
        return elimination.each(lambda a: exchanges(elimination.factor(a)[1], count), (x,), (2,)).astype(np.int32)
