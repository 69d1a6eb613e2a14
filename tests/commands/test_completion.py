"""What a shell is offered."""

from __future__ import annotations

import pytest

from gradcli.cli import COMMANDS
from gradcli.commands.graph import FORMATS
from gradcli.graph import formats


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("che", ["check"]),
        ("", [command.__name__ for command in COMMANDS]),
        ("check --format j", ["json", "jsonl", "junit"]),
        ("check --report git", ["github=", "gitlab="]),
        ("check --fail-on k", ["kink"]),
        ("check --method s", ["symbolic"]),
        ("check --stdin", ["--stdin-filename"]),
        ("grad --format ", ["text", "json"]),
        ("derive --format n", ["numpy"]),
        ("graph --format p", ["png", "pdf"]),
        ("explain ver", ["verdicts"]),
        ("trace --color n", ["never"]),
    ],
)
def test_words(gradcli, line, words):
    environment = {
        "_GRADCLI_COMPLETE": "complete_bash",
        "COMP_WORDS": f"gradcli {line}",
        "COMP_CWORD": str(len(f"gradcli {line}".split(" ")) - 1),
    }
    assert gradcli(env=environment).stdout.split() == words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(gradcli, shell):
    assert "gradcli" in gradcli(env={"_GRADCLI_COMPLETE": f"source_{shell}"}).stdout


def test_the_formats_of_graphs():
    assert tuple(formats.FORMATS) == FORMATS
