"""Every operation with one argument at high precision and the others plain: what a reference of one leaf among several does."""

from __future__ import annotations

import zlib
from typing import Any

import mpmath
import numpy as np
import pytest

import gradcli.ops.catalogue
from gradcli.ops.operation import Operation
from gradcli.references import derived
from gradcli.references.scalar import Scalar, lift, number

STEP = 20


def cases() -> list[tuple[str, Operation, tuple[Any, ...], int]]:
    found = []
    for cls in gradcli.ops.catalogue.OPERATIONS:
        if not cls.differentiable or cls.examples.__func__ is Operation.examples.__func__ or (len(cls.arguments) < 2 and not cls.variadic):
            continue
        examples = list(cls.examples(np.random.default_rng(zlib.crc32(cls.__name__.encode()))))
        for op, args in (examples[0], examples[-1]):
            moving = [k for k, a in enumerate(args) if getattr(a, "dtype", np.dtype(int)).kind == "f"]
            results = op.replay(args, op.decide(*args) if op.decides else None)
            if any(np.asarray(r).dtype.kind == "c" for r in (results if isinstance(results, tuple) else (results,))):
                continue
            if len(moving) < 2 or getattr(op, "no_exact", "") or op.node == "NotImplemented":
                continue
            found += [(f"{cls.__name__}-{k}", op, args, k) for k in moving]
    return found


def flat_results(op: Operation, args: list[Any], decision: Any) -> list[Any]:
    out = derived.apply(op, tuple(args), decision)
    return [number(v) for part in (out if isinstance(out, tuple) else (out,)) for v in np.asarray(part, dtype=object).flat]


@pytest.mark.parametrize(("op", "args", "place"), [c[1:] for c in cases()], ids=[c[0] for c in cases()])
def test_a_small_step_of_one_argument_alone_is_seen(op: Operation, args: tuple[Any, ...], place: int) -> None:
    decision = op.decide(*args) if op.decides else None
    slopes = []
    with mpmath.workdps(50):
        h = mpmath.mpf(10) ** -STEP
        for mixed in (True, False):
            sides = []
            for sign in (1, -1):
                given = [a if mixed or getattr(a, "dtype", np.dtype(int)).kind != "f" else lift(a)[()] for a in args]
                moved = lift(args[place])
                flat = moved.reshape(-1)
                flat[-1] = Scalar(flat[-1].value + sign * h)
                given[place] = moved[()]
                sides.append(flat_results(op, given, decision))
            slopes.append([float((a - b) / (2 * h)) for a, b in zip(*sides, strict=True)])
    np.testing.assert_allclose(slopes[0], slopes[1], rtol=1e-9, atol=1e-12)
