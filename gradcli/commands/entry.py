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

from gradcli.commands import configuration
from gradcli.commands.configuration import Configured, configure, keys_of
from gradcli.commands.options import Debug
from gradcli.commands.output import say
from gradcli.commands.telling import Told
from gradcli.errors import ExitStatus, GradcliError
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
        return options

    parameters = [p for p in signature.parameters.values() if p.name not in ("limits", "debug") and p.annotation is not Configured]
    parameters += _limit_parameters() if limited else []
    parameters += configuration.PARAMETERS if configurable else ()
    parameters.append(_option("debug", False, Debug))
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


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
