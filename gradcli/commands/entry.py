"""What every command has around it: `--debug`, an option per limit, and exceptions turned into exit statuses."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any

import typer

from gradcli.commands import configuration, inputs
from gradcli.commands.configuration import Configured, configure, keys_of
from gradcli.commands.options import At, Debug, Formula, assignments
from gradcli.commands.output import say
from gradcli.commands.telling import Told
from gradcli.errors import ExitStatus, GradcliError, UsageError
from gradcli.interpreter.limits import Limits
from gradcli.report.errors import error_text
from gradcli.report.text import printable

Command = Callable[..., ExitStatus]

PREFIX = "max_"
"""Keeps the parameters of the limits apart from those of the commands."""


def entry(command: Command) -> Command:
    """The command as Typer sees it: a parameter `limits` becomes one option per limit, a Configured says that it can be configured."""
    signature = inspect.signature(command, eval_str=True)
    limited = "limits" in signature.parameters
    configurable = any(p.annotation is Configured for p in signature.parameters.values())
    path = next((p for p in ("file", "paths") if p in signature.parameters and "output" in signature.parameters), None)

    @functools.wraps(command)
    def run(*, debug: bool = False, **options: Any) -> ExitStatus:
        if "debug" in signature.parameters:
            options["debug"] = debug
        return guarded(lambda: command(**prepared(options)), debug=debug)

    def prepared(options: dict[str, Any]) -> dict[str, Any]:
        if configurable:
            configure(options, keys_of(run))
        if limited:
            options["limits"] = Limits(**{limit.name: options.pop(PREFIX + limit.name) for limit in fields(Limits)})
        return options if path is None else _with_input(path, options)

    parameters = [p for p in signature.parameters.values() if p.name not in ("limits", "debug") and p.annotation is not Configured]
    if path is not None:
        parameters = _with_formula(parameters, path)
    parameters += _limit_parameters() if limited else []
    if configurable:
        parameters = [*configuration.with_negations(parameters), *configuration.PARAMETERS]
    parameters.append(_option("debug", False, Debug))
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _with_formula(parameters: list[inspect.Parameter], path: str) -> list[inspect.Parameter]:
    """The parameters with `-e` and `--at` behind the path, which need not be given then."""
    found = []
    for parameter in parameters:
        if parameter.name != path:
            found.append(parameter)
            continue
        kind, argument = parameter.annotation.__origin__, parameter.annotation.__metadata__[0]
        found += [_option(path, None, Annotated[kind | None, argument]), _option("formula", None, Formula), _option("at", None, At)]
    return [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in found]


def _with_input(path: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options with what the command works on: the path that is given, or the formula."""
    formula, at, given = options.pop("formula"), options.pop("at"), options[path]
    if formula is None and at:
        raise UsageError("--at gives a variable of a formula its value, and there is no formula", hint="--set is for files", code="G102")
    if formula is not None and given:
        raise UsageError("a file and a formula exclude each other", hint="leave out one", code="G102")
    if formula is None and not given:
        name = "PATH" if path == "paths" else "FILE"
        raise UsageError("missing a file or a formula", hint=f'name a {name}, or give -e "x**2" --at x=3', code="G102")
    if formula is not None:
        given = inputs.Formula(formula, assignments(at, "--at"))
        given = [given] if path == "paths" else given
    return {**options, path: given}


def _limit_parameters() -> list[inspect.Parameter]:
    return [_option(PREFIX + limit.name, limit.default, _limit_annotation(limit.metadata, type(limit.default))) for limit in fields(Limits)]


def _limit_annotation(metadata: Any, kind: type) -> Any:
    return Annotated[kind, typer.Option(metadata["option"], metavar="N", help=f"Limit: {metadata['meaning']}.", min=0)]


def _option(name: str, default: object, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def guarded(action: Callable[[], ExitStatus], *, debug: bool = False) -> ExitStatus:
    """Run to an exit status: what a user did is told without a traceback, what we did is told as our fault."""
    try:
        return action()
    except Told as told:
        return told.status
    except GradcliError as error:
        say(error_text(error))
        return ExitStatus.ERROR
    except BrokenPipeError:
        return pipe_closed()
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except OSError as error:
        discard_output()
        say(f"gradcli: error: {printable(str(error))}")
        return ExitStatus.ERROR
    except Exception as error:
        return bug(error, debug=debug)


def pipe_closed() -> ExitStatus:
    """Whoever read standard output has gone."""
    discard_output()
    return ExitStatus.PIPE_CLOSED


def discard_output() -> None:
    """What is still in the buffer of standard output cannot be written: Python would complain at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())


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
