"""Whether the backward of a user Function can be differentiated again: its own derivative against exact second derivatives.

The trace of a second derivative goes through what backward computes. A backward that is right but holds something
constant (detach, .item(), a saved number) gives right first derivatives and wrong second ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.check.beside import curvature
from gradcli.check.functions import Alone, Fault, own_sweep, signed
from gradcli.check.patterns import recognise
from gradcli.engine.backward import grad
from gradcli.engine.edges import behind
from gradcli.engine.node import placed
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import FunctionCall, Record
from gradcli.references.estimate import NoAnswer
from gradcli.references.pair import holds_complex

CLOSE = 1e-6


def second_faults(call: FunctionCall, budget: int, seed: int, untrue: set[Any]) -> list[Fault]:
    """What is wrong with the derivative of one call's backward by its inputs; nothing where it cannot be told.

    Nothing either where that backward calls one of the Functions that are `untrue`: the fault is theirs.
    """
    alone = Alone(call, budget, seed)
    alone.gather({})
    if any(holds_complex(r.value) for i in alone.inputs for r in i.fixed or ()):
        return []
    rng = np.random.default_rng([seed, call.first, 2])
    direction = [signed(rng, i.shape) for i in alone.inputs]
    try:
        expected = curvature(alone.inputs, direction, budget)
    except (NoAnswer, ArithmeticError, ValueError):
        return []
    given = derived_again(alone, direction, untrue)
    if given is None:
        return []
    for places, got, truth in zip(alone.places, given, expected, strict=True):
        room = CLOSE * float(np.max(np.abs(truth), initial=0.0)) + 1e-300
        known = np.isfinite(truth) & np.isfinite(got)
        if (known & (np.abs(got - truth) > room)).any():
            text = recognise(got, truth).text
            why = f"its own derivative, along a direction, for argument {places[0] + 1} {text}: backward cannot be differentiated again"
            return [Fault(call, places[0], "second", why, alone.line(places[0]))]
    return []


def derived_again(alone: Alone, direction: list[np.ndarray], untrue: set[Any]) -> list[np.ndarray] | None:
    """The engine's derivative of (what backward returns, weighted by the direction) by each input; None where the user forbids it,
    or where it goes through an untrue Function."""
    call = alone.call
    try:
        with own_sweep(recorded=True) as sweep:
            sweep.recorded = True
            leaves = {id(r): Tensor(np.array(r.value, dtype=float)[()], True) for r in call.inputs if isinstance(r, Record)}
            args = [leaves[id(r)] if isinstance(r, Record) else a for r, a in zip(call.inputs, call.args, strict=True)]
            result = call.cls.apply(*args)
            results = result if isinstance(result, tuple) else (result,)
            node = next(t.node for t in results if isinstance(t, Tensor) and t.node is not None)
            found = placed(node, node.backward([Tensor(w[()]) for w in alone.weights], sweep))
            pairs = [(g, d) for g, d in weighted(alone, found, direction) if g.requires_grad]
            inputs = [leaves[id(i.fixed[0])] for i in alone.inputs if i.fixed]
            if any(getattr(below, "cls", None) in untrue for below in behind([g for g, _ in pairs])):
                return None
            if not pairs:
                return [np.zeros(i.shape) for i in alone.inputs]
            again = grad([g for g, _ in pairs], inputs, [Tensor(d) for _, d in pairs], allow_unused=True, own=True)
            return [np.zeros(i.shape) if g is None else np.asarray(g.value) for g, i in zip(again, inputs, strict=True)]
    except (RuntimeError, TypeError, ValueError, StopIteration, LookupError):
        return None


def weighted(alone: Alone, found: list[tuple[int, Any]], direction: list[np.ndarray]) -> list[tuple[Tensor, np.ndarray]]:
    """Each returned gradient with the weights of the input that it is for."""
    of = {k: d for places, d in zip(alone.places, direction, strict=True) for k in places}
    return [(g, of[k][()]) for k, g in found if isinstance(g, Tensor) and k in of]
