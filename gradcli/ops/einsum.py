"""Sums of products by index notation, as the chain of permutations and batched products that PyTorch makes."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any, NamedTuple

from gradcli.errors import ArgumentError, ShapeError
from gradcli.ops.axes import integer, raw
from gradcli.ops.budget import budget
from gradcli.ops.diagonal import diagonal
from gradcli.ops.matmul import bmm, dot, mm
from gradcli.ops.operation import Value
from gradcli.ops.reduction import sum as total
from gradcli.ops.shape import reshape, unsqueeze
from gradcli.ops.transposition import movedim, permute

ELLIPSIS = "..."
LETTERS = string.ascii_uppercase + string.ascii_lowercase


class Notation(NamedTuple):
    """An equation taken apart: the labels of each operand, those of the output, the number of axes the ellipsis covers."""

    operands: list[list[str]]
    output: list[str]
    covered: int


def labels_of(term: str, where: str) -> list[str]:
    """The labels of one term, `...` as one of them."""
    labels = []
    text = term.replace(" ", "")
    while text:
        if text.startswith(ELLIPSIS):
            if ELLIPSIS in labels:
                raise ShapeError(f"einsum(): found '.' for {where} for which an ellipsis was already found")
            labels.append(ELLIPSIS)
            text = text[3:]
        elif text[0] in LETTERS:
            labels.append(text[0])
            text = text[1:]
        elif text[0] == ".":
            raise ShapeError(f"einsum(): found '.' for {where} that is not part of any ellipsis")
        else:
            raise ShapeError(
                f"einsum(): invalid subscript given at index {term.find(text[0])} in the equation string, subscripts must be in [a-zA-Z]"
            )
    return labels


def parse(equation: str, tensors: Sequence[Any]) -> Notation:
    """The equation, checked against the operands."""
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(tensors):
        more = "more" if len(terms) < len(tensors) else "fewer"
        raise ShapeError(f"einsum(): {more} operands were provided than specified in the equation")
    operands = [labels_of(term, f"operand {k}") for k, term in enumerate(terms)]
    covered = 0
    for k, (labels, tensor) in enumerate(zip(operands, tensors, strict=True)):
        named = len(labels) - (ELLIPSIS in labels)
        if named > tensor.ndim or (ELLIPSIS not in labels and named != tensor.ndim):
            words, end = ("is more than", "") if ELLIPSIS in labels else ("does not match", " and no ellipsis was given")
            raise ShapeError(
                f"einsum(): the number of subscripts in the equation ({named}) {words} the number of dimensions ({tensor.ndim}) "
                f"for operand {k}{end}"
            )
        if ELLIPSIS in labels:
            covered = max(covered, tensor.ndim - named)
    return Notation(operands, labels_of(right, "the output") if arrow else implied(operands), covered)


def implied(operands: list[list[str]]) -> list[str]:
    """The output without an arrow: the ellipsis, then the labels that occur once, in the order of the alphabet (capitals first)."""
    every = [label for labels in operands for label in labels]
    once = sorted(label for label in set(every) if label != ELLIPSIS and every.count(label) == 1)
    return [ELLIPSIS] * (ELLIPSIS in every) + once


def check_output(notation: Notation) -> None:
    for label in notation.output:
        if notation.output.count(label) > 1:
            raise ShapeError(f"einsum(): output subscript {label} appears more than once in the output")
        if label != ELLIPSIS and not any(label in labels for labels in notation.operands):
            raise ShapeError(f"einsum(): output subscript {label} does not appear in the equation for any input operand")


def places(notation: Notation) -> tuple[dict[str, int], int, int]:
    """The axis of each label (of the ellipsis its first), the number of output axes, and of all axes."""
    place: dict[str, int] = {}
    at = 0
    for label in notation.output:
        place[label] = at
        at += notation.covered if label == ELLIPSIS else 1
    out = at
    if ELLIPSIS not in place and any(ELLIPSIS in labels for labels in notation.operands):
        place[ELLIPSIS] = at
        at += notation.covered
    for label in sorted({label for labels in notation.operands for label in labels} - set(place)):
        place[label] = at
        at += 1
    return place, out, at


def arrange(tensor: Any, labels: list[str], covered: int, place: dict[str, int], count: int) -> Any:
    """An operand with one axis for each label of the equation, length 1 where it has not that label; repeated labels: the diagonal."""
    order = [-1] * count
    axis, seen = 0, dict[str, int]()
    missing = covered - (tensor.ndim - len(labels) + 1)
    for label in labels:
        if label == ELLIPSIS:
            for _ in range(missing):
                tensor = unsqueeze(tensor, axis)
            for k in range(covered):
                order[place[label] + k] = axis
                axis += 1
        elif label in seen:
            first = seen[label]
            if tensor.shape[first] != tensor.shape[axis]:
                raise ShapeError(
                    f"einsum(): subscript {label} is repeated for operand but the sizes don't match, "
                    f"{tensor.shape[axis]} != {tensor.shape[first]}"
                )
            tensor = movedim(diagonal(tensor, 0, first, axis), -1, first)
        else:
            seen[label] = axis
            order[place[label]] = axis
            axis += 1
    for k in range(count):
        if order[k] == -1:
            tensor = unsqueeze(tensor, tensor.ndim)
            order[k] = axis
            axis += 1
    return permute(tensor, order)


def check_sizes(operands: Sequence[Any], place: dict[str, int]) -> None:
    """All operands agree on each axis, or have length 1."""
    for axis in range(operands[0].ndim):
        sizes = {op.shape[axis] for op in operands} - {1}
        if len(sizes) > 1:
            label = next((name for name, at in place.items() if at == axis and name != ELLIPSIS), ELLIPSIS)
            shapes = " ".join(f"[{', '.join(map(str, op.shape))}]" for op in operands)
            raise ShapeError(
                f"einsum(): operands do not broadcast with remapped shapes [original->remapped]: {shapes}",
                hint=f"label {label} has sizes {sorted(sizes)}",
            )


def einsum(equation: Any, *operands: Any) -> Any:
    """The sum of products that `equation` writes with labels: 'ij,jk->ik', repeated labels a diagonal, `...` leading axes.

    Without an arrow the output has the labels that occur once, in alphabetical order. Several operands are
    multiplied from left to right. Source: ATen's Linear.cpp, whose chain of nodes this is.
    """
    if not isinstance(equation, str):
        equation, operands = sublists((equation, *operands))
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not operands:
        raise ShapeError("einsum(): must provide at least one operand")
    notation = parse(equation, operands)
    check_output(notation)
    place, out, count = places(notation)
    ops = [arrange(t, labels, notation.covered, place, count) for t, labels in zip(operands, notation.operands, strict=True)]
    check_sizes(ops, place)
    if len(ops) == 1:
        return total(ops[0], tuple(range(out, count))) if count > out else ops[0]
    result = contract(ops, out)
    return reshape(result, result.shape[:out]) if count > out else result


def contract(ops: list[Any], out: int) -> Any:
    """Multiply the operands from left to right, summing each axis as soon as no later operand has it."""
    count = ops[0].ndim
    left = [sum(op.shape[d] != 1 for op in ops) for d in range(count)]
    a = ops[0]
    for b in ops[1:]:
        together: list[int] = []
        alone_a: list[int] = []
        alone_b: list[int] = []
        for d in range(out, count):
            if a.shape[d] != 1 and b.shape[d] != 1:
                left[d] -= 1
                if left[d] == 1:
                    together.append(d)
                    left[d] = 0
            elif left[d] == 1:
                side = alone_a if a.shape[d] != 1 else alone_b if b.shape[d] != 1 else None
                if side is not None:
                    side.append(d)
                    left[d] = 0
        a = total(a, tuple(alone_a), True) if alone_a else a
        b = total(b, tuple(alone_b), True) if alone_b else b
        a = pair(a, b, together)
    return a


def pair(a: Any, b: Any, summed: list[int]) -> Any:
    """The product of two operands, summed over the axes `summed`, which stay with length 1: one batched matrix product."""
    if not summed:
        return a * b
    budget.elements(math.prod(max(p, q) for d, (p, q) in enumerate(zip(a.shape, b.shape, strict=True)) if d not in summed))
    both: list[int] = []
    only_a: list[int] = []
    rest: list[int] = []
    for d in range(a.ndim):
        if d in summed:
            continue
        wide_a, wide_b = a.shape[d] != 1, b.shape[d] != 1
        (both if wide_a and wide_b else only_a if wide_a else rest).append(d)
    batch, rows = math.prod(a.shape[d] for d in both), math.prod(a.shape[d] for d in only_a)
    inner, columns = math.prod(a.shape[d] for d in summed), math.prod(b.shape[d] for d in rest)
    left = reshape(permute(a, [*both, *only_a, *summed, *rest]), (batch, rows, inner))
    right = reshape(permute(b, [*both, *summed, *rest, *only_a]), (batch, inner, columns))
    order = [*both, *only_a, *summed, *rest]
    shape = (*(a.shape[d] for d in both), *(a.shape[d] for d in only_a), *(1 for _ in summed), *(b.shape[d] for d in rest))
    return permute(reshape(bmm(left, right), shape), [order.index(d) for d in range(len(order))])


def sublists(args: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
    """The other spelling, einsum(x, [0, 1], y, [1, 2], [0, 2]), as an equation and its operands."""
    operands = tuple(args[0 : len(args) - len(args) % 2 : 2])
    lists = [*args[1::2], *([args[-1]] if len(args) % 2 else [])]
    if not all(isinstance(part, (list, tuple)) for part in lists):
        raise ArgumentError("einsum(): expected an equation string, or operands each followed by a list of labels")
    terms = ["".join(ELLIPSIS if k is Ellipsis else LETTERS[integer(k, "a label")] for k in part) for part in lists]
    if len(args) % 2:
        return ",".join(terms[:-1]) + "->" + terms[-1], operands
    return ",".join(terms), operands


def tensordot(x: Value, y: Value, dims: Any = 2) -> Any:
    """The sum of products over axes of x paired with axes of y: the last and first `dims` of them, or two lists of axes."""
    if isinstance(dims, (list, tuple)):
        first, second = ([d] if not isinstance(d, (list, tuple)) else list(d) for d in dims)
    else:
        number = integer(raw(dims), "dims")
        if number < 0 or number > min(x.ndim, y.ndim):
            raise ShapeError(f"tensordot expects dims >= 0 and at most the rank of both, but got dims={number}")
        first, second = list(range(-number, 0)), list(range(number))
    if len(first) != len(second):
        raise ShapeError("both dimension lists should have same length")
    for p, q in zip(first, second, strict=True):
        if y.shape[q] == 1:
            x = total(x, p, True)
        elif x.shape[p] == 1:
            y = total(y, q, True)
        elif x.shape[p] != y.shape[q]:
            raise ShapeError(
                f"contracted dimensions need to match, but first has size {x.shape[p]} in dim {p} "
                f"and second has size {y.shape[q]} in dim {q}"
            )
    keep, other = (kept(v.ndim, dims) for v, dims in ((x, first), (y, second)))
    if not keep and not other:
        return reshape(dot(reshape(permute(x, first), -1), reshape(permute(y, second), -1)), ())
    inner = math.prod(x.shape[d] for d in first)
    left = reshape(permute(x, keep + first), (math.prod(x.shape[d] for d in keep), inner))
    right = reshape(permute(y, second + other), (inner, math.prod(y.shape[d] for d in other)))
    return reshape(mm(left, right), (*(x.shape[d] for d in keep), *(y.shape[d] for d in other)))


def kept(ndim: int, summed: list[int]) -> list[int]:
    """The axes that are not summed over."""
    gone = {d % ndim for d in summed}
    return [d for d in range(ndim) if d not in gone]


FUNCTIONS = (einsum, tensordot)
