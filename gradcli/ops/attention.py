"""Attention, embedding bags and dropout."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import DataError, DtypeError, ShapeError
from gradcli.ops.axes import raw
from gradcli.ops.chance import drawn
from gradcli.ops.extreme import amax
from gradcli.ops.indexing import getitem
from gradcli.ops.joining import stack
from gradcli.ops.lookup import embedding
from gradcli.ops.matmul import matmul
from gradcli.ops.numbered import scaled
from gradcli.ops.operation import Value
from gradcli.ops.pooling import AxisMap
from gradcli.ops.reduction import sum as total
from gradcli.ops.shape import reshape
from gradcli.ops.softmax import SafeSoftmax
from gradcli.ops.transposition import matrix_transpose


def scaled_dot_product_attention(
    query: Value, key: Value, value: Value, attn_mask: Value | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """softmax(query @ key.T * scale + mask) @ value; scale is 1 / sqrt(size of the last axis) unless given.

    Shapes: query (..., L, E), key (..., S, E), value (..., S, V) -> (..., L, V). A mask of truth values keeps where it is
    true, one of numbers is added; `is_causal` keeps keys up to the place of the query. A row without any key gives 0.
    """
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.ndim < 2:
            raise ShapeError(f"scaled_dot_product_attention: Expected {name} to have at least 2 dimensions, but got {x.ndim}")
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    root = math.sqrt(abs(factor))
    scores = matmul(scaled(query, root), scaled(matrix_transpose(key), math.copysign(root, factor)))
    if is_causal:
        if attn_mask is not None:
            raise ShapeError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
        attn_mask = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
    if attn_mask is not None:
        scores = scores + (np.where(raw(attn_mask), 0.0, -np.inf) if attn_mask.dtype.kind == "b" else attn_mask)
    weights = SafeSoftmax(dim=(-1,))(scores)
    return matmul(dropout(weights, dropout_p) if dropout_p else weights, value)


def embedding_bag(
    x: Any, weight: Value, offsets: Value | None = None, max_norm: Any = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
    mode: str = "mean", sparse: bool = False, per_sample_weights: Value | None = None, include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """Rows of weight at the indices of each bag, as their sum, mean or largest elements.

    Bags are the rows of x (B, n), or the stretches of x (n) that begin at `offsets` -> (B, columns of weight).
    """
    if mode not in ("sum", "mean", "max"):
        raise DataError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise DataError(
            f"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode='{mode}')."
        )
    indices = np.asarray(raw(x))
    if indices.dtype.kind not in "iu":
        raise DtypeError(
            f"Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got {indices.dtype}"
        )
    if indices.ndim == 2:
        starts = np.arange(indices.shape[0]) * indices.shape[1]
    elif offsets is None:
        raise DataError("offsets has to be a 1D Tensor but got None")
    else:
        starts = np.asarray(raw(offsets))
        starts = starts[:-1] if include_last_offset else starts
    flat = indices.reshape(-1)
    rows = embedding(x if indices.ndim == 1 else reshape(x, -1), weight)
    if per_sample_weights is not None:
        rows = rows * reshape(per_sample_weights, (-1, 1))
    ends = [*starts[1:], len(flat)]
    bags = [[k for k in range(a, b) if flat[k] != padding_idx] for a, b in zip(starts, ends, strict=True)]
    if mode == "max":
        return stack([amax(getitem(rows, bag), 0) if bag else total(rows * 0.0, 0) for bag in bags])
    matrix = np.zeros((len(bags), len(flat)))
    for row, bag in zip(matrix, bags, strict=True):
        row[bag] = 1.0 / len(bag) if mode == "mean" and bag else 1.0
    return AxisMap(matrices=(matrix, np.eye(weight.shape[-1])), label="EmbeddingBagBackward0")(rows)


def dropout(x: Value, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Each element 0 with probability p, else divided by 1 - p; x itself unless training. What is dropped is drawn once, from the seed."""
    _check(p)
    if not training or p == 0:
        return x
    return x * _noise(x, x.shape, p)


def feature_dropout(x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Whole channels (axis 1) dropped together."""
    _check(p)
    if not training or p == 0:
        return x
    return x * _noise(x, (*x.shape[:2], *(1,) * (x.ndim - 2)), p)


def _check(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise DataError(f"dropout probability has to be between 0 and 1, but got {p}")


def _noise(x: Any, shape: tuple[int, ...], p: float) -> Any:
    keep = drawn(shape) >= p
    return np.where(keep, 1.0 / (1.0 - p) if p < 1 else 0.0, 0.0).astype(x.dtype if x.dtype.kind == "f" else np.float64)


FUNCTIONS = (scaled_dot_product_attention, embedding_bag, dropout)
SPELLINGS = {"dropout1d": feature_dropout, "dropout2d": feature_dropout, "dropout3d": feature_dropout}
