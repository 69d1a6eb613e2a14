"""What `grad`, `backward` and `graph` work on: a run of the file, an output of it, leaves, and weights of the output."""

from __future__ import annotations

from dataclasses import dataclass

from gradcli.check.collect import evaluated, no_tensor
from gradcli.commands.look import Look
from gradcli.commands.start import Start
from gradcli.engine.edges import behind
from gradcli.engine.node import AccumulateGrad
from gradcli.engine.places import names_of, places
from gradcli.engine.tensor import Tensor, tensor
from gradcli.errors import UsageError
from gradcli.graph.build import Builder
from gradcli.graph.focus import ways
from gradcli.graph.model import Graph
from gradcli.interpreter import Run
from gradcli.syntax import Source
from gradcli.syntax.spelling import did_you_mean


@dataclass(frozen=True)
class Selection:
    """`leaves` by the name that the file gives them, in its order; `grad_outputs` None where the output stands alone."""

    run: Run
    name: str
    output: Tensor
    leaves: dict[str, Tensor]
    grad_outputs: Tensor | None


def run(source: Source, start: Start, look: Look) -> Run:
    """The file run to its end, its printing dropped; raises the error that ended it before."""
    done = start.run(source, trace=True)
    if done.error is not None:
        raise done.error
    for item in done.asserts:
        if not item.holds:
            look.note(f"{source.path}:{item.span.line}: note: this assertion failed{f': {item.message}' if item.message else ''}")
    return done


def select(done: Run, output: str | None, wrt: list[str] | None, grad_outputs: str | None) -> Selection:
    """The options' choice; without options the last variable that requires grad, and every leaf that does."""
    name = output if output is not None else last_output(done)
    chosen = named(done, name, "--output")
    if not chosen.requires_grad:
        raise UsageError(f"--output {name}: it requires no grad", hint="no operation on the way to it takes a leaf that does", code="G107")
    leaves = {leaf: named(done, leaf, "--wrt") for leaf in wrt} if wrt else all_leaves(done, chosen)
    for leaf, value in leaves.items():
        if not value.requires_grad:
            raise UsageError(f"--wrt {leaf}: it requires no grad", hint="create it with requires_grad=True", code="G107")
    return Selection(done, name, chosen, leaves, None if grad_outputs is None else weights(done, grad_outputs, chosen))


def narrowed(graph: Graph, builder: Builder, chosen: Selection) -> Graph:
    """The part of a graph on the ways from the output to the chosen leaves."""
    edges = {name: leaf.edge() for name, leaf in chosen.leaves.items()}
    for name, edge in edges.items():
        if edge is None or edge[0] not in builder.ids:
            raise UsageError(f"--wrt {name}: {chosen.name} does not depend on it", code="G107")
    return ways(graph, {builder.ids[edge[0]] for edge in edges.values() if edge is not None})


def last_output(done: Run) -> str:
    """The variable that was bound last to a result that requires grad; where there is no result, to a leaf."""
    task = done.tree.task
    if task is not None and task.output is not None:
        return task.output
    asking = [name for name, value in done.scope.items() if isinstance(value, Tensor) and value.requires_grad]
    if not asking:
        hint = "create a leaf with requires_grad=True, and compute with it"
        raise UsageError(f"{done.tree.source.path}: nothing to differentiate", hint=hint, code="G107")
    results = [name for name in asking if not done.scope[name].is_leaf]
    return (results or asking)[-1]


def all_leaves(done: Run, output: Tensor) -> dict[str, Tensor]:
    """Every leaf that requires grad: those that the file's variables hold, and those without a name below the output."""
    names = names_of(done.scope)
    below = [node.variable for node in behind([output]) if isinstance(node, AccumulateGrad)]
    task = done.tree.task
    if task is not None:
        arguments = {name: done.scope[name] for name in task.leaves}
        return {name: leaf for name, leaf in arguments.items() if task.output is not None or any(leaf is other for other in below)}
    held = [tensor for name, value in done.scope.items() for _, tensor in places(name, value)]
    found = {id(leaf): leaf for leaf in [*held, *below] if leaf.requires_grad and leaf.is_leaf}
    return {names.get(key, f"leaf {position}"): leaf for position, (key, leaf) in enumerate(found.items(), 1)}


def named(done: Run, text: str, option: str) -> Tensor:
    """The tensor that an option names: a variable, or an expression such as `layers[0]`."""
    if text.isidentifier() or text in done.scope:
        if text not in done.scope:
            hint = did_you_mean(text, done.scope) or f"the file has {', '.join(done.scope) or 'no variables'}"
            raise UsageError(f"{option} {text}: the file has no such variable", hint=hint, code="G107")
        value = done.scope[text]
    else:
        value = evaluated(done, text, option)
    if not isinstance(value, Tensor):
        raise no_tensor(done, text, option, value)
    return value


def weights(done: Run, text: str, output: Tensor) -> Tensor:
    """The value of --grad-outputs as a tensor of the output's dtype; numbers and nested lists are taken too."""
    value = evaluated(done, text, "--grad-outputs")
    if not isinstance(value, Tensor):
        try:
            value = tensor(value, dtype=output.dtype)
        except (TypeError, ValueError, RuntimeError, ArithmeticError, IndexError) as error:
            raise UsageError(f"--grad-outputs {text}: {error}", code="G107") from error
    if value.shape != output.shape:
        shapes = f"shape {list(value.shape)}, and the output has {list(output.shape)}"
        raise UsageError(f"--grad-outputs {text}: {shapes}", hint="both must be the same", code="G107")
    return value
