"""Colour and width."""

from __future__ import annotations

import io

import pytest

from gradcli.commands.options import Color
from gradcli.commands.terminal import speaks, wants_color, width


class Stream(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(
    ("choice", "environment", "terminal", "colored"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_color(monkeypatch, choice, environment, terminal, colored):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wants_color(Color(choice), Stream(terminal)) is colored


def test_width_is_80_where_nobody_looks(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert width(Stream(False)) == 80
    monkeypatch.setenv("COLUMNS", "40")
    assert width(Stream(False)) == 40


@pytest.mark.parametrize(("encoding", "able"), [("utf-8", True), ("ascii", False), ("cp1252", True), ("unheard-of", False)])
def test_speaks(encoding, able):
    stream = type("", (), {"encoding": encoding})()
    assert speaks(stream, "±") is able
