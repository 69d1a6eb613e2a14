"""Which gradients of a file are to be judged, taken while it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gradcli.check import target as targets
from gradcli.check.options import CheckOptions
from gradcli.check.target import Target, Term
from gradcli.engine.backward import grad
from gradcli.engine.mode import state
from gradcli.engine.places import names_of
from gradcli.engine.storage import Storage
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import Tracer
from gradcli.errors import GradcliError, SourceErrors, UsageError
from gradcli.interpreter.faults import program_error
from gradcli.interpreter.limits import HIGHEST_ORDER
from gradcli.interpreter.program import Program, Run, prepared
from gradcli.interpreter.recorder import CheckCall, ClaimCall
from gradcli.syntax.source import Source
from gradcli.syntax.spelling import did_you_mean

LONGEST_NAME = 40


class Labels:
    """The names of tensors: what the program bound them to first, else what its variables hold now."""

    def __init__(self, tracer: Tracer, scope: dict[str, Any] | None = None, source: Source | None = None) -> None:
        self.tracer = tracer
        self.scope = scope or {}
        self.source = source

    @cached_property
    def held(self) -> dict[int, str]:
        return names_of(self.scope)

    def __call__(self, tensor: Tensor) -> tuple[str, int | None]:
        """Name and line of a tensor; a tensor without a name goes by the text that made it, else by its place."""
        known = self.tracer.labels.get(id(tensor))
        if known is not None:
            return known[0], known[1]
        if id(tensor) in self.held:
            return self.held[id(tensor)], None
        record = tensor.own_record
        span = record.span if record is not None else None
        if span is None:
            return "output", None
        text = self.source.quoted(span) if self.source is not None else ""
        return text if 0 < len(text) <= LONGEST_NAME else f"line {span.line}", span.line


@dataclass
class Collector:
    """Takes the targets of check(...) and claim(...) calls at the moment that the program makes them."""

    seed: int
    targets: list[Target] = field(default_factory=list)

    @cached_property
    def rng(self) -> np.random.Generator:
        """Weights of outputs too large for a Jacobian are drawn from it."""
        return np.random.default_rng(self.seed)

    def check(self, call: CheckCall) -> None:
        tracer = state.tracer
        assert tracer is not None
        if not isinstance(call.output, Tensor):
            raise TypeError(f"check(): the output must be a Tensor, not {type(call.output).__name__}")
        label = Labels(tracer)
        wrt = call.wrt
        if wrt is None:
            chosen = [(*label(t), t) for t in targets.leaves_of(call.output)]
        else:
            lines = [label(t)[1] if isinstance(t, Tensor) else None for t in wrt]
            chosen = list(zip(call.names.wrt, lines, wrt))
        self.targets += make_targets(call.output, call.names.output, chosen, call.grad_outputs, call.span.line, call.order or 1, self.rng)

    def claim(self, call: ClaimCall) -> None:
        tracer = state.tracer
        assert tracer is not None
        for what, value in (("output", call.output), ("leaf", call.leaf)):
            if not isinstance(value, Tensor):
                raise TypeError(f"claim(): the {what} must be a Tensor, not {type(value).__name__}")
        value = targets.numeric(call.value)
        chosen = [(call.names.wrt[0], Labels(tracer)(call.leaf)[1], call.leaf)]
        weights = None if call.output.ndim == 0 or value.shape == call.output.shape + call.leaf.shape else np.ones(call.output.shape)
        (made,) = make_targets(call.output, call.names.output, chosen, weights, call.span.line, 1, self.rng)
        expected = made.inputs[0].autograd.shape
        if value.shape != expected:
            raise ValueError(f"claim(): the value has shape {list(value.shape)}, the gradient has shape {list(expected)}")
        made.inputs[0].claimed = np.array(value, dtype=np.complex128 if call.leaf.dtype.kind == "c" else np.float64)
        self.targets.append(made)


def make_targets(
    output: Tensor,
    name: str,
    wrt: list[tuple[str, int | None, Any]],
    grad_outputs: Any,
    line: int | None,
    order: int,
    rng: np.random.Generator,
    *,
    constant: bool = False,
) -> list[Target]:
    """The targets of one request: one, or for a higher order one for each differentiated tensor. `constant`: no leaf need have a part."""
    for label, _, tensor in wrt:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{label} is no Tensor: gradients are taken with respect to tensors that require grad")
        if not tensor.requires_grad:
            raise RuntimeError(f"{label} does not require grad: create it with requires_grad=True")
    if not output.requires_grad and not constant:
        raise RuntimeError(f"{name} does not require grad: no operation on the way to it does")
    if order > HIGHEST_ORDER:
        raise ValueError(f"order: derivatives up to order {HIGHEST_ORDER} are taken")
    weights = weights_of(grad_outputs, output, name)
    if not output.requires_grad:
        return targets.constants(output, name, wrt, weights, line, order)
    if order == 1:
        return [targets.make(output, name, wrt, weights, line, 1, rng)]
    made = []
    for label, at, tensor in wrt:
        derivative = differentiate(output, tensor, weights, order - 1)
        chosen, exactly = (label, at, tensor), order == 2 or math.prod(tensor.shape) == 1
        if derivative is not None and derivative.requires_grad:
            made.append(targets.make(derivative, name, [chosen], None, line, order, rng))
        elif exactly:
            made.append(targets.vanished(name, chosen, line, order))
        if exactly:
            term, seed = made[-1].inputs[0].terms[0], np.ones(output.shape) if weights is None else weights
            term.origin, term.times = Term(output.record(), seed), order - 1
    return made


def weights_of(grad_outputs: Any, output: Tensor, name: str) -> np.ndarray | None:
    """grad_outputs as an array of the output's shape. Raises RuntimeError, as PyTorch, for another shape."""
    if grad_outputs is None:
        return None
    weights = np.asarray(targets.numeric(grad_outputs), dtype=output.dtype)
    if weights.shape != output.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[0] has a shape of torch.Size({list(weights.shape)}) and "
            f"output[0] has a shape of torch.Size({list(output.shape)}): {name}"
        )
    return weights


def differentiate(output: Tensor, tensor: Tensor, weights: np.ndarray | None, times: int) -> Tensor | None:
    """The derivative of (the weighted sum of) the output, taken so often with its graph; None where it vanishes identically."""
    current: Tensor | None = output
    for _ in range(times):
        assert current is not None
        seed = Tensor(np.ones(current.shape, current.dtype) if weights is None else weights)
        (current,) = grad([current], [tensor], [seed], create_graph=True, allow_unused=True, own=True)
        weights = None
        if current is None or not current.requires_grad:
            return None
    return current


def collect(program: Program, options: CheckOptions, tracer: Tracer, storage: Storage | None = None) -> tuple[Run, list[Target]]:
    """Run the program once and take its targets: those of the command line, else check and claim, else its passes, else the last output."""
    collector = Collector(options.seed)
    run = program.run(
        seed=options.seed, overrides=dict(options.set), trace=True, hooks=collector, data=options.data, tracer=tracer, storage=storage
    )
    if run.error is not None:
        return run, []
    with judging(run):
        try:
            return run, choose(run, collector, options)
        except GradcliError:
            raise
        except Exception as error:
            told = program_error(error)  # here, where the engine still knows the place
            if told is None:
                raise
            raise told from error


def judging(run: Run) -> Any:
    """The engine as it was during the run, for gradients that are taken after it."""
    from gradcli.interpreter.meter import Meter
    from gradcli.interpreter.warner import Warner

    return resumed(prepared(Meter(run.limits), None, run.tracer, Warner(run.tree.source, None)), run.tracer)


class resumed:  # noqa: N801 - a context manager
    """`prepared`, with the tracer of an earlier run."""

    def __init__(self, context: Any, tracer: Tracer | None) -> None:
        self.context, self.tracer = context, tracer

    def __enter__(self) -> None:
        self.context.__enter__()
        state.tracer, state.keep_graph, state.grad = self.tracer, True, True

    def __exit__(self, *exception: Any) -> Any:
        return self.context.__exit__(*exception)


def choose(run: Run, collector: Collector, options: CheckOptions) -> list[Target]:
    """The targets in order of precedence (`interfaces.md` of the manual: command line, check and claim, passes, the last output)."""
    tracer = run.tracer
    assert tracer is not None
    label = Labels(tracer, run.scope, run.tree.source)
    asked = {name for name in ("output", "wrt", "grad_outputs", "order") if getattr(options, name)}
    if asked and not (collector.targets and asked <= options.configured):
        return from_options(run, options, label, collector.rng)
    if collector.targets:
        return collector.targets
    passes = [made for made in (targets.from_pass(p, label) for p in tracer.passes) if made is not None]
    if passes:
        return passes
    name = last_output(run)
    if name is None:
        return []
    output = variable(run, name, "--output")
    wrt = [(*label(t), t) for t in leaves_for(run, output)]
    return make_targets(output, name, wrt, None, label(output)[1], 1, collector.rng, constant=is_constant(run, output))


def last_output(run: Run) -> str | None:
    """The last top-level variable bound to a tensor that requires grad and is no leaf; else a leaf; None without any."""
    if run.tree.task is not None and run.tree.task.output is not None:
        return run.tree.task.output
    asking = [name for name, value in run.scope.items() if isinstance(value, Tensor) and value.requires_grad]
    results = [name for name in asking if not run.scope[name].is_leaf]
    return results[-1] if results else (asking[-1] if asking else None)


def is_constant(run: Run, output: Tensor) -> bool:
    """A formula, or an FPCore, in which no argument has a part says so by itself; a program that forgets requires_grad does not."""
    return run.tree.task is not None and run.tree.task.output is not None and not output.requires_grad


def leaves_for(run: Run, output: Tensor) -> list[Tensor]:
    """What an output is differentiated by where nothing says it: the arguments of a formula, else the leaves below it."""
    task = run.tree.task
    return targets.leaves_of(output) if task is None else [run.scope[name] for name in task.leaves]


def from_options(run: Run, options: CheckOptions, label: Labels, rng: np.random.Generator) -> list[Target]:
    """The target that the command line asks for. Raises UsageError for names that the file does not bind."""
    name = options.output or last_output(run)
    if name is None:
        return []
    output = variable(run, name, "--output")
    wrt = [(n, label(t)[1], t) for n, t in ((n, variable(run, n, "--wrt")) for n in options.wrt)]
    if not wrt:
        wrt = [(*label(t), t) for t in leaves_for(run, output)]
    weights = evaluated(run, options.grad_outputs, "--grad-outputs") if options.grad_outputs else None
    return make_targets(output, name, wrt, weights, label(output)[1], options.order or 1, rng, constant=is_constant(run, output))


def evaluated(run: Run, text: str, option: str) -> Any:
    """The value of an expression given with an option. Raises UsageError that names the option."""
    try:
        return run.evaluate(text)
    except GradcliError as error:
        first = error.errors[0] if isinstance(error, SourceErrors) else error
        raise UsageError(f"{option} {text}: {first.message}", hint=first.hint, code="G107") from error


def variable(run: Run, name: str, option: str) -> Tensor:
    """A tensor by the name of its top-level variable, or by an expression such as `layers[0]`."""
    value = run.scope[name] if name in run.scope else None if name.isidentifier() else evaluated(run, name, option)
    if value is None:
        tensors = [n for n, v in run.scope.items() if isinstance(v, Tensor)]
        hint = did_you_mean(name, tensors) or f"tensors: {', '.join(tensors)}"
        raise UsageError(f"{option} {name}: the file binds no variable of that name", hint=hint, code="G107")
    if run.tree.task is not None and isinstance(value, (int, float, complex)):
        return Tensor(np.asarray(value)[()])
    if not isinstance(value, Tensor):
        raise no_tensor(run, name, option, value)
    return value


def no_tensor(run: Run, name: str, option: str, value: Any) -> UsageError:
    """What is to be differentiated is of another kind; that of a formula, nobody has named."""
    kind = type(value).__name__
    if run.tree.task is not None and name == run.tree.task.output:
        return UsageError(f"the formula gives no number but {kind}", code="G112")
    return UsageError(f"{option} {name}: it is no Tensor but {kind}", code="G107")
