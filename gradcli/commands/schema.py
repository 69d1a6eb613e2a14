"""`gradcli schema`: the JSON Schema of what `gradcli check --format json` writes."""

from __future__ import annotations

from importlib.resources import files

from gradcli.commands import options
from gradcli.commands.output import emit
from gradcli.errors import ExitStatus


def schema(out: options.Out = None) -> ExitStatus:
    """Print the JSON Schema of check --format json.

    A line of --format jsonl is one element of its "files". Fields are added at times, never renamed or removed.
    """
    text = files("gradcli.report").joinpath("schema", "check.json").read_text(encoding="utf-8")
    emit(text, out, machine=True)
    return ExitStatus.PASSED
