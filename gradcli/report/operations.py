"""What `gradcli ops` lists: every operation by the name that users call it, with its signature and its node."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gradcli.errors import UsageError
from gradcli.interpreter.namespaces import INTERNAL
from gradcli.ops.catalogue import FUNCTIONS, OperationFunction, signature
from gradcli.ops.missing import FORMS, MISSING
from gradcli.ops.operation import Operation
from gradcli.report.text import folded
from gradcli.report.view import View
from gradcli.syntax.spelling import did_you_mean

SCHEMA = "gradcli.ops/1"
PREFIXES = ("torch.nn.functional.", "nn.functional.", "torch.Tensor.", "torch.", "F.", "np.", "numpy.", "math.", "Tensor.", ".")


@dataclass(frozen=True)
class Row:
    """One operation of the list. `operations` are the classes that it is made of, as far as its own code names them."""

    name: str
    signature: str
    summary: str
    nodes: tuple[str, ...]
    function: Callable[..., Any]
    operations: tuple[type[Operation], ...]


def names() -> list[str]:
    """Every public name, in alphabetical order."""
    return sorted((name for name in FUNCTIONS if name not in INTERNAL and not name.startswith("_")), key=str.lower)


def row(name: str) -> Row:
    function = FUNCTIONS[name]
    made_of = operations(function)
    nodes = tuple(dict.fromkeys(node for cls in made_of if (node := node_of(cls))))
    return Row(name, name + written(function), summary(function), nodes, function, made_of)


def written(function: Callable[..., Any]) -> str:
    """The signature without the annotations, which are Python's and say little."""
    bare = [p.replace(annotation=p.empty) for p in signature(function).parameters.values()]
    return str(inspect.Signature(bare))


def summary(function: Callable[..., Any]) -> str:
    """The first sentence of the docstring, on one line."""
    first = (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")
    sentence, stop, _ = first.partition(". ")
    return sentence + "." if stop else first


def operations(function: Callable[..., Any]) -> tuple[type[Operation], ...]:
    """The operation that a function stands for, or those that its code names."""
    if isinstance(function, OperationFunction):
        return (function.cls,)
    found = [function.__globals__.get(name) for name in function.__code__.co_names]
    classes = [thing if isinstance(thing, type) else type(thing) for thing in found]
    return tuple(dict.fromkeys(cls for cls in classes if issubclass(cls, Operation)))


def node_of(cls: type[Operation]) -> str:
    """PyTorch's name of the node; where it depends on parameters, that of the simplest instance."""
    if not cls.differentiable:
        return ""
    node = inspect.getattr_static(cls, "node", "")
    try:
        return node if isinstance(node, str) else cls().node
    except (TypeError, AttributeError):
        return ""


def matching(text: str) -> list[Row]:
    """The operations whose name, summary or node has the text in it."""
    wanted = text.lower()
    return [r for r in map(row, names()) if wanted in r.name.lower() or wanted in r.summary.lower() or wanted in " ".join(r.nodes).lower()]


def find(name: str) -> Row:
    """The operation of a name, however it is written: sin, torch.sin, F.relu, x.add_(). UsageError where there is none."""
    known = names()
    for candidate in spellings(name):
        if candidate in known:
            return row(candidate)
    for candidate in (name, *spellings(name)):
        for missing in (candidate, f"nn.functional.{candidate}"):
            if missing in MISSING:
                raise UsageError(f"gradcli has no {name}", hint=MISSING[missing], code="G102")
    plain = list(spellings(name))[-1]
    inside = [other for other in known if plain.lower() in other.lower()][:8]
    more = f"these have it in their name: {', '.join(inside)}" if inside else "`gradcli ops` lists them all"
    hint = more if len(inside) > 1 else did_you_mean(plain, known) or more
    raise UsageError(f"no operation {name!r}", hint=hint, code="G102")


def spellings(name: str) -> Iterable[str]:
    """The names that a user may mean, the closest first."""
    bare = name.strip().removesuffix("()")
    yield bare
    for prefix in PREFIXES:
        if bare.startswith(prefix):
            bare = bare.removeprefix(prefix)
            break
    yield bare
    yield bare.rstrip("_")
    yield bare.rpartition(".")[2].rstrip("_")


# ---- the list


def listed(rows: list[Row], view: View) -> str:
    """One line each: signature, node, summary; cut at the width of the terminal."""
    lines = []
    left = min(max((len(r.signature) for r in rows), default=0), 44)
    for r in rows:
        nodes = ", ".join(r.nodes[:2]) + (", ..." if len(r.nodes) > 2 else "")
        text = f"{r.signature:<{left}}  {r.summary}" + (f"  [{nodes}]" if nodes else "")
        lines.append(text if len(text) <= view.width or view.verbose else text[: view.width - 3] + "...")
    count = f"{len(rows)} operation{'' if len(rows) == 1 else 's'}"
    more = "gradcli ops NAME tells more, --missing what there is not"
    return "\n".join([*lines, "", *folded(f"{count}; {more}", view.width)]) + "\n"


def listed_json(rows: list[Row]) -> str:
    objects = [{"name": r.name, "signature": r.signature, "summary": r.summary, "nodes": list(r.nodes)} for r in rows]
    return json.dumps({"schema": SCHEMA, "operations": objects}, indent=2, ensure_ascii=False) + "\n"


def missing(view: View) -> str:
    """What is not there, by reason."""
    lines = []
    for reason in dict.fromkeys(MISSING.values()):
        lines.append(f"{reason}:")
        lines += [f"    {name}" for name, why in MISSING.items() if why == reason]
    lines.append("Arguments that operations do not take here:")
    lines += [f"    {call}: {reason}" for call, reason in FORMS.items()]
    return "\n".join(part for line in lines for part in folded(line, view.width)) + "\n"


def missing_json() -> str:
    absent = [{"name": name, "reason": reason} for name, reason in MISSING.items()]
    forms = [{"call": call, "reason": reason} for call, reason in FORMS.items()]
    return json.dumps({"schema": SCHEMA, "missing": absent, "forms": forms}, indent=2, ensure_ascii=False) + "\n"
