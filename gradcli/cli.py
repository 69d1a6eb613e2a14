"""The command line: assembles the commands, and maps what they raise to exit statuses."""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from gradcli import __version__
from gradcli.commands.backward import backward
from gradcli.commands.check import check
from gradcli.commands.config import config
from gradcli.commands.derive import derive
from gradcli.commands.entry import entry, guarded, pipe_closed
from gradcli.commands.examples import epilog
from gradcli.commands.explain import explain
from gradcli.commands.grad import grad
from gradcli.commands.graph import graph
from gradcli.commands.ops import ops
from gradcli.commands.output import say
from gradcli.commands.run import run
from gradcli.commands.schema import schema
from gradcli.commands.trace import trace
from gradcli.errors import ExitStatus, UsageError
from gradcli.syntax.spelling import did_you_mean

COMMANDS = (check, grad, backward, run, graph, trace, derive, ops, explain, schema, config)

# The home of typer's UsageError moves between its versions; its subclass BadParameter is public.
TyperUsageError: Any = typer.BadParameter.__base__

NO_NUMBER = re.compile(r"('[^']*') is not a valid (int|float)(?: range)?$")
NUMBERS = {"int": "a whole number", "float": "a number"}
NO_COMMAND = re.compile(r"No such command '([^']*)'")
NO_CHOICE = re.compile(r"'([^']*)' is not one of")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gradcli {__version__}")
        raise typer.Exit


def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")] = False,
) -> None:
    if context.invoked_subcommand is None:
        say(context.get_help())
        raise typer.Exit(ExitStatus.ERROR)


def main() -> None:
    """The console script."""
    # At its end Python looks for cycles among all that was ever imported, which takes longer than many a command.
    atexit.register(gc.freeze)
    open_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    status = status_of(sys.argv[1:])
    sys.exit(int(guarded(lambda: _flushed(status))))


def _flushed(status: ExitStatus) -> ExitStatus:
    """The status, once all that was written has arrived."""
    sys.stdout.flush()
    return status


def open_streams() -> None:
    """Where a script has closed one of the three streams there is nothing to read, or nobody reads: no reason to fail."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - it stays open


def status_of(arguments: list[str]) -> ExitStatus:
    """Run a command line to its exit status."""
    try:
        return guarded(lambda: _dispatch(arguments))
    except SystemExit as stop:
        # Outside its standalone mode typer only does this after a completion, and where the reader of its help has gone.
        return pipe_closed() if stop.code else ExitStatus.PASSED


@cache
def built(name: str | None) -> Any:
    """What Typer makes of the command of that name; of all where there is none. All take longer to make than many a command to run."""
    # Without rich's markup: it forces escape codes on CI systems, and takes longer to import than all else.
    app = typer.Typer(
        name="gradcli",
        help="Check gradients: autograd against exact symbolic derivatives and finite differences.",
        epilog="The same from Python: import gradcli as gc; gc.check(...). From pytest: pytest --grad.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_start)
    for command in COMMANDS:
        if name in (None, command.__name__):
            app.command(command.__name__, epilog=epilog(command.__name__))(entry(command))
    return get_command(app)


def _dispatch(arguments: list[str]) -> ExitStatus:
    named = next((command.__name__ for command in COMMANDS if arguments[:1] == [command.__name__]), None)
    try:
        return ExitStatus(built(named)(arguments, prog_name="gradcli", standalone_mode=False) or 0)
    except TyperUsageError as error:
        raise _usage(error) from None


def _usage(error: Any) -> UsageError:
    """What typer found wrong with the command line, in our words."""
    message = error.format_message().rstrip(".")
    near = getattr(error, "possibilities", None)
    if near:
        return UsageError(f"no option {error.option_name}", hint=f"did you mean {' or '.join(sorted(near))}?", code="G102")
    message = NO_NUMBER.sub(lambda match: f"{match[1]} is not {NUMBERS[match[2]]}", message)
    if wrong := NO_COMMAND.match(message):
        names = [command.__name__ for command in COMMANDS]
        return UsageError(f"no command {wrong[1]!r}", hint=did_you_mean(wrong[1], names) or "gradcli --help lists them", code="G102")
    choice = NO_CHOICE.search(message)
    choices = getattr(getattr(getattr(error, "param", None), "type", None), "choices", ())
    if choice and (hint := did_you_mean(choice[1], list(choices))):
        return UsageError(message[:1].lower() + message[1:], hint=hint, code="G102")
    path = error.ctx.command_path if error.ctx else "gradcli"
    return UsageError(message[:1].lower() + message[1:], hint=f"{path} --help lists what there is", code="G102")
