"""`gradcli.check_gradient(f, grad, x0)`: a plain Python function over numpy arrays, its gradient written by hand."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.api import library as library  # furnishes tensors for functions written with numpy
from gradcli.api.apart import apart
from gradcli.api.checked import Checked
from gradcli.api.checking import options_of
from gradcli.check import target as targets
from gradcli.check.file import judge_target
from gradcli.check.functions import check_functions
from gradcli.check.options import CheckOptions
from gradcli.check.rerun import NoRerun
from gradcli.check.result import FileResult, Note
from gradcli.check.sampled import Sampled, allow_kinks
from gradcli.check.target import Input, Target, Term
from gradcli.check.verdicts import rank
from gradcli.engine.mode import state
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import Tracer
from gradcli.references.called import Called, called
from gradcli.syntax.parser import parse
from gradcli.syntax.source import Source

Arrays = list[np.ndarray]
OF_PROGRAMS = frozenset({"output", "wrt", "set", "order"})
"""Options that choose among what a program computes."""
OTHER_VALUE = 1e-9
"""How far, relative to its size, the function on tensors may be from the function on arrays: rounding in another order."""


def check_gradient(
    f: Callable[..., Any],
    grad: Callable[..., Any] | None = None,
    x0: Any = None,
    *,
    names: Sequence[str] | str | None = None,
    grad_outputs: Any = None,
    name: str | None = None,
    **options: Any,
) -> Checked:
    """Judge a gradient that was written by hand, with the verdicts of `gradcli check`.

    f             a function of one or several numpy arrays (numbers too) to a number or an array
    grad          called with the same arguments: the gradient by each of them (a tuple when there are several), of its shape. Where f
                  gives an array: with `grad_outputs` that of sum(f * grad_outputs), else the Jacobian (shape of f + shape of the argument).
                  None: what autograd gives is judged; f must then work on gradcli's tensors
    x0            the point: an array, or a tuple of several
    names         what the arguments are called in the report; by default as f names them
    options       rtol, atol, max_ulps, strict, fail_on, method, seed, as for `gradcli.check`

    f is called with arrays for finite differences. Where it works on tensors besides (operators, gradcli's functions, those of numpy that
    gradcli has) and gives the same value, its trace is differentiated by SymPy as well. What f and grad raise on arrays is raised here;
    ValueError for a gradient of another shape.

        >>> import gradcli as gc, numpy as np
        >>> gc.check_gradient(lambda x: np.sum(x**3), lambda x: 3 * x**2, np.array([1.0, 2.0])).status
        'pass'
    """
    began = time.perf_counter()
    callable_or_refused("f", f)
    if grad is not None:
        callable_or_refused("grad", grad)
    for option in OF_PROGRAMS & options.keys():
        raise TypeError(f"check_gradient has no option {option!r}: it is for programs")
    settings = options_of(options)
    title = str(name or getattr(f, "__name__", type(f).__name__))
    points = points_of(x0)
    labels = labels_of(f, names, len(points))
    with apart():
        subject = Subject(f, grad, points, labels, "f" if title == "<lambda>" else title, settings)
        result = subject.judged(weights_of(grad_outputs))
    result.seconds = time.perf_counter() - began
    return Checked.of(result)


def callable_or_refused(name: str, function: Any) -> None:
    if not callable(function):
        raise TypeError(f"{name} must be a function, not {type(function).__name__}")


def points_of(x0: Any) -> Arrays:
    """The arguments as float64 arrays. Raises ValueError for what are no real numbers."""
    if x0 is None:
        raise TypeError("the point is missing: give x0, an array, or a tuple of arrays")
    given = list(x0) if isinstance(x0, tuple) else [x0]
    points = []
    for value in given:
        array = np.array(value.detach().numpy() if isinstance(value, Tensor) else value)
        if array.dtype.kind not in "biuf":
            raise ValueError(f"x0 must hold real numbers, not {array.dtype}: give an array, or a tuple of arrays")
        points.append(array.astype(np.float64))
    return points


def labels_of(f: Callable[..., Any], names: Sequence[str] | str | None, count: int) -> list[str]:
    """A name for each argument."""
    if names is None:
        try:
            found = [p.name for p in inspect.signature(f).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        except (TypeError, ValueError):
            found = []
        names = found[:count] if len(found) >= count else ["x"] if count == 1 else [f"x{k}" for k in range(count)]
    chosen = [names] if isinstance(names, str) else list(names)
    if len(chosen) != count:
        raise ValueError(f"names has {len(chosen)} names for {count} argument{'' if count == 1 else 's'}")
    return chosen


def weights_of(grad_outputs: Any) -> np.ndarray | None:
    return None if grad_outputs is None else np.asarray(getattr(grad_outputs, "value", grad_outputs), dtype=np.float64)


class Subject:
    """One function at one point, with the gradient that is to be judged."""

    def __init__(
        self, f: Callable[..., Any], grad: Callable[..., Any] | None, points: Arrays, labels: list[str], title: str, options: CheckOptions
    ) -> None:
        self.f, self.grad, self.points, self.labels, self.title, self.options = f, grad, points, labels, title, options
        self.on_tensors = False
        self.value = np.zeros(())
        self.tracer = Tracer()

    def judged(self, weights: np.ndarray | None) -> FileResult:
        traced, silence = self.traced()
        if self.grad is not None:
            self.value = self.plain()
        elif traced is not None:
            self.value = np.asarray(traced.value)
        else:
            raise TypeError(f"{self.title}: {silence}; without grad there is nothing to judge then")
        if weights is not None and weights.shape != self.value.shape:
            raise ValueError(f"grad_outputs has shape {list(weights.shape)}, the output has shape {list(self.value.shape)}")
        if traced is not None and self.grad is not None and not same(np.asarray(traced.value), self.value):
            traced, silence = None, f"{self.title} gives another value on tensors than on arrays"
        target = self.target(traced, weights)
        result = FileResult(self.title, "pass", False)
        self.judge(result, target, silence)
        found = [(t.status, t.failing) for t in result.targets] + [(f.status, f.failing) for f in result.functions]
        result.status = max((rank(s, bad), s) for s, bad in found)[1]
        result.failing = any(bad for _, bad in found)
        return result

    # ---- the function, on arrays and on tensors

    def call(self, *arrays: np.ndarray) -> np.ndarray:
        """The output as an array; f gets copies, so that it may write into them."""
        given = [np.array(a) for a in arrays]
        out = self.f(*[Tensor(a[()]) for a in given] if self.on_tensors else given)
        return real(out, self.title)

    def plain(self) -> np.ndarray:
        """The output at the point. A function written with gradcli's own takes tensors alone: it gets them then."""
        try:
            return self.call(*self.points)
        except (TypeError, AttributeError, RuntimeError):
            self.on_tensors = True
            try:
                return self.call(*self.points)
            except Exception:
                self.on_tensors = False
        return self.call(*self.points)

    def traced(self) -> tuple[Tensor | None, str]:
        """The output of f on tensors, recorded; None with the reason where f cannot be followed so."""
        self.leaves = [Tensor(np.array(p)[()], True) for p in self.points]
        state.tracer, state.keep_graph, state.warn = self.tracer, True, ignore
        try:
            out = self.f(*self.leaves)
        except Exception as error:
            return None, f"{self.title} does not run on tensors: {type(error).__name__}"
        if not isinstance(out, Tensor):
            return None, f"{self.title} gives no tensor for tensors"
        if not out.requires_grad:
            return None, f"what {self.title} does to tensors leaves no trace"
        if self.tracer.stops and self.grad is not None:
            return None, f"{self.title} takes numbers out of tensors ({self.tracer.stops[0][0]})"
        return out, ""

    # ---- the target

    def target(self, traced: Tensor | None, weights: np.ndarray | None) -> Target:
        """What is judged: the gradient given, else autograd's."""
        given = None if self.grad is None else self.given(weights)
        notes = []
        if weights is None and self.value.ndim and targets.too_large(Tensor(self.value), self.leaves):
            weights = np.random.default_rng(self.options.seed).uniform(0.5, 1.5, self.value.shape)
            given = None if given is None else [np.tensordot(weights, g, weights.ndim) for g in given]
            text = f"the Jacobian of {self.value.shape} is too large: checked along one random grad_outputs"
            notes.append(Note("random-grad-outputs", text))
        if traced is not None:
            wrt: list[tuple[str, int | None, Tensor]] = [(label, None, leaf) for label, leaf in zip(self.labels, self.leaves, strict=True)]
            target = targets.make(traced, self.title, wrt, weights, None)
        else:
            term = Term(None, np.ones(()) if weights is None and not self.value.ndim else weights)
            outer = self.value.shape if weights is None else ()
            inputs = [
                Input(label, None, p.shape, p.dtype, leaf, np.full(outer + p.shape, np.nan), [term])
                for label, p, leaf in zip(self.labels, self.points, self.leaves, strict=True)
            ]
            target = Target(self.title, None, self.value, weights, 1, inputs, [])
        for item, claim in zip(target.inputs, given or (), strict=False):
            item.claimed = claim
        target.notes += notes
        return target

    def given(self, weights: np.ndarray | None) -> Arrays:
        """The gradient by each argument, as grad gives it."""
        assert self.grad is not None
        found = self.grad(*[Tensor(np.array(p)[()]) if self.on_tensors else np.array(p) for p in self.points])
        parts = list(found) if isinstance(found, (tuple, list)) and len(self.points) > 1 else [found]
        if isinstance(found, tuple) and len(self.points) == 1 and len(found) == 1:
            parts = list(found)
        if len(parts) != len(self.points):
            raise ValueError(f"grad gives {len(parts)} gradient{'' if len(parts) == 1 else 's'} for {len(self.points)} arguments")
        outer = () if weights is not None else self.value.shape
        arrays = []
        for label, point, part in zip(self.labels, self.points, parts, strict=True):
            array = real(part, "grad", f" for {label}")
            if array.shape != outer + point.shape:
                raise ValueError(f"the gradient by {label} has shape {list(array.shape)}, and should have {list(outer + point.shape)}")
            arrays.append(array)
        return arrays

    # ---- the judgement

    def judge(self, result: FileResult, target: Target, silence: str) -> None:
        options, tree = self.options, parse(Source(self.title, "0\n"))
        if self.grad is None:
            result.functions, faults = check_functions(self.tracer, options.symbolic_budget, options.seed)
            result.targets = [judge_target(target, 0, NoRerun(), self.tracer, faults, tree, options)]
            return
        witness = Sampled(target.inputs, options, [self.program(k, target) for k in range(len(self.points))], silence)
        tracer = Tracer() if silence else self.tracer
        found = judge_target(target, 0, NoRerun(), tracer, [], tree, options, witness)
        allow_kinks(found, witness, options)
        result.targets = [found]

    def program(self, position: int, target: Target) -> Called:
        """The function of one argument, the others as they are."""

        def call(value: np.ndarray) -> np.ndarray:
            return self.call(*self.points[:position], value, *self.points[position + 1 :])

        return called(call, self.points[position], target.inputs[position].terms[0].weights)


def real(value: Any, giver: str, of: str = "") -> np.ndarray:
    """A number or an array of numbers as float64. Raises TypeError for anything else, None too, of which NumPy would make NaN."""
    array = np.asarray(getattr(value, "value", value))
    if array.dtype.kind in "biufO" and not any(item is None for item in array.flat if array.dtype.kind == "O"):
        with contextlib.suppress(TypeError, ValueError):
            return array.astype(np.float64)
    kind = "None" if value is None else "complex numbers" if array.dtype.kind == "c" else type(value).__name__
    raise TypeError(f"{giver} gives {kind}{of}, not real numbers{': is a return missing?' if value is None else ''}")


def ignore(message: str, category: type[Warning]) -> None:
    """What f does to tensors is our own curiosity: nobody need be warned of it."""


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=OTHER_VALUE, atol=0.0, equal_nan=True))
