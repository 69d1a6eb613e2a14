"""What every command has around it: groups of options spread out, the configuration, exceptions turned into exit statuses."""

from __future__ import annotations

import functools
import inspect
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Annotated, Any

import typer

from gradcli.commands import configuration, inputs
from gradcli.commands.configuration import Configured
from gradcli.commands.look import Look
from gradcli.commands.options import At, Color, Debug, Formula, StdinFilename, assignments
from gradcli.commands.output import discard, refuse_to_replace, say
from gradcli.commands.telling import Told
from gradcli.errors import ExitStatus, GradcliError, UsageError
from gradcli.interpreter.limits import Limits
from gradcli.report.text import printable

Command = Callable[..., ExitStatus]

PREFIX = "max_"
"""Keeps the parameters of the limits apart from those of the commands."""

RUNNING = ("file", "paths")
"""The parameter by which a command says that it runs files: then a configuration is read, and `-` is standard input."""


def entry(command: Command) -> Command:
    """The command as Typer sees it: a parameter that is a group of options (Start, Look, Limits) becomes these options."""
    signature = inspect.signature(command, eval_str=True)
    path = next((name for name in RUNNING if name in signature.parameters), None)

    @functools.wraps(command)
    def run(*, debug: bool = False, **given: Any) -> ExitStatus:
        return guarded(lambda: command(**prepared(given, debug)), debug=debug, color=given.get("color", Color.AUTO))

    def prepared(given: dict[str, Any], debug: bool) -> dict[str, Any]:
        refuse_unbounded(given)
        if path is not None:
            given[path] = _input(path, given)
            given["config"] = configuration.configure(given, path)
            if path == "file":
                refuse_to_replace([given[path]], [given["out"]])
        return _gathered(signature, {**given, "debug": debug})

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in spread(signature)]
    if path is not None:
        parameters = _with_input_options(parameters, path, formula="output" in signature.parameters)
        parameters = [*configuration.with_negations(parameters), *configuration.PARAMETERS]
    parameters = sorted([*(p for p in parameters if p.name != "debug"), _option("debug", False, Debug)], key=_is_limit)
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def refuse_unbounded(given: dict[str, Any]) -> None:
    """Typer takes `nan` and `inf` for numbers; nothing can be held against the one, and the other is no bound. Raises UsageError."""
    for name, value in given.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"--{name.replace('_', '-')} takes a finite number, not {value}", code="G102")


def spread(signature: inspect.Signature) -> list[inspect.Parameter]:
    """The parameters, groups replaced by their members; limits, which are many, come last."""
    return sorted(_members(signature), key=_is_limit)


def _is_limit(parameter: inspect.Parameter) -> bool:
    return parameter.name in {PREFIX + limit.name for limit in fields(Limits)}


def _members(signature: inspect.Signature) -> Iterator[inspect.Parameter]:
    for parameter in signature.parameters.values():
        if parameter.annotation is Limits:
            yield from _limit_parameters()
        elif (group := _group(parameter)) is not None:
            yield from _members(inspect.signature(group, eval_str=True))
        elif parameter.annotation is not Configured:
            yield parameter


def _group(parameter: inspect.Parameter) -> type | None:
    """The class whose fields are options, where the parameter is such a group."""
    kind = parameter.annotation
    return kind if isinstance(kind, type) and is_dataclass(kind) and kind is not Configured else None


def _gathered(signature: inspect.Signature, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call, members put together as groups again."""
    made: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        group = _group(parameter)
        if group is Limits:
            made[name] = Limits(**{limit.name: given[PREFIX + limit.name] for limit in fields(Limits)})
        elif group is not None:
            made[name] = group(**_gathered(inspect.signature(group, eval_str=True), given))
        else:
            made[name] = given[name]
    return made


def _with_input_options(parameters: list[inspect.Parameter], path: str, *, formula: bool) -> list[inspect.Parameter]:
    """The parameters with what else can stand for a file behind the path; where there are formulas the path need not be given."""
    found = []
    for parameter in parameters:
        if parameter.name == path and formula:
            kind, argument = parameter.annotation.__origin__, parameter.annotation.__metadata__[0]
            found += [_option(path, None, Annotated[kind | None, argument]), _option("formula", None, Formula), _option("at", None, At)]
        else:
            found.append(parameter)
        if parameter.name == path:
            found.append(_option("stdin_filename", None, StdinFilename))
    return found


def _input(path: str, given: dict[str, Any]) -> Any:
    """What the command works on: the path or paths that are given, or the formula."""
    formula, at, named, paths = given.pop("formula", None), given.pop("at", None), given.pop("stdin_filename"), given[path]
    if formula is None and at:
        raise UsageError("--at gives a variable of a formula its value, and there is no formula", hint="--set is for files", code="G102")
    if formula is not None and paths:
        raise UsageError("a file and a formula exclude each other", hint="leave out one", code="G102")
    if paths is not None and "" in _listed(paths):
        raise UsageError("a path is empty", hint="is a variable of a script not set?", code="G102")
    if formula is None and not paths:
        name = "PATH" if path == "paths" else "FILE"
        raise UsageError("missing a file or a formula", hint=f'name a {name}, or give -e "x**2" --at x=3', code="G102")
    if formula is not None:
        paths = [inputs.Formula(formula, assignments(at, "--at"))]
    found = [inputs.StandardInput(named or inputs.STANDARD_INPUT_NAME) if p == inputs.STANDARD_INPUT else p for p in _listed(paths)]
    if named is not None and not any(isinstance(item, inputs.StandardInput) for item in found):
        raise UsageError("--stdin-filename names what is on standard input, which is not asked for", hint="give - as well", code="G102")
    return found if path == "paths" else found[0]


def _listed(paths: Any) -> list[str]:
    return paths if isinstance(paths, list) else [paths]


def _limit_parameters() -> list[inspect.Parameter]:
    return [_option(PREFIX + limit.name, limit.default, _limit_annotation(limit.metadata, type(limit.default))) for limit in fields(Limits)]


def _limit_annotation(metadata: Any, kind: type) -> Any:
    text = f"Limit: {metadata['meaning']}."
    return Annotated[kind, typer.Option(metadata["option"], metavar="N", help=text, min=0, max=metadata["most"])]


def _option(name: str, default: object, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def guarded(action: Callable[[], ExitStatus], *, debug: bool = False, color: Color = Color.AUTO) -> ExitStatus:
    """Run to an exit status: what a user did is told without a traceback, what we did is told as our fault."""
    try:
        return action()
    except Told as told:
        return told.status
    except GradcliError as error:
        Look(color=color).tell(error)
        return ExitStatus.ERROR
    except BrokenPipeError:
        return pipe_closed()
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except OSError as error:
        discard(sys.stdout)
        say(f"gradcli: error: {printable(reason(error))}")
        return ExitStatus.ERROR
    except Exception as error:
        return bug(error, debug=debug)


def pipe_closed() -> ExitStatus:
    """Whoever read standard output has gone."""
    discard(sys.stdout)
    return ExitStatus.PIPE_CLOSED


def reason(error: OSError) -> str:
    """What the system has against it, in words."""
    try:
        os.getcwd()
    except OSError:
        return "the working directory is gone, or may not be looked into"
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)


def bug(error: Exception, *, debug: bool, path: str | None = None) -> ExitStatus:
    """Tell of a fault of gradcli itself."""
    return tell_bug(type(error).__name__, str(error), "".join(traceback.format_exception(error)).rstrip(), debug=debug, path=path)


def tell_bug(name: str, message: str, trace: str, *, debug: bool, path: str | None = None) -> ExitStatus:
    if debug:
        say(trace)
    where = "" if path is None else f" ({path})"
    say(f"gradcli: this is a bug of gradcli, not of your file{where}: {name}: {printable(message)}")
    say(f"  please report it, with the file{'' if debug else '; --debug shows the traceback'}")
    return ExitStatus.BUG
