"""`gradcli ops`."""

import json
import re

import pytest

from gradcli.cli import status_of
from gradcli.ops.catalogue import OPERATIONS
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation
from gradcli.report import operation_page, operations


def run(capsys, *arguments):
    status = status_of(["ops", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_list(capsys):
    status, out, _ = run(capsys, "--verbose")
    assert status == 0
    lines = out.splitlines()
    assert any(re.match(r"sin\(x\) +The sine\.  \[SinBackward0\]", line) for line in lines)
    assert f"{len(operations.names())} operations; gradcli ops NAME tells more" in out


def test_the_list_as_json(capsys):
    document = json.loads(run(capsys, "--format", "json", "--match", "atan2")[1])
    assert document["schema"] == "gradcli.ops/1"
    assert "atan2" in [row["name"] for row in document["operations"]]
    assert all({"name", "signature", "summary", "nodes"} == set(row) for row in document["operations"])


def test_lines_fit_the_width(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    assert max(map(len, run(capsys)[1].splitlines()[:-1])) <= 70


@pytest.mark.parametrize("name", ["relu", "F.relu", "torch.relu", "torch.nn.functional.relu()", "x.relu_"])
def test_a_page_is_found_however_it_is_called(capsys, name):
    status, out, _ = run(capsys, name)
    assert status == 0
    assert out.startswith("relu(x)\n")
    assert "Kink at 0" in out
    assert "node ReluBackward0" in out
    assert "def vjp_x(self, g: Value, out: Value)" in out
    assert "d/dx = 1   (where decide(...) is True)" in out


def test_a_page_as_json(capsys):
    (found,) = json.loads(run(capsys, "tanh", "--format", "json")[1])["operations"]
    assert found["node"] == "TanhBackward0"
    assert found["derivatives"] == [{"argument": "x", "branch": None, "formula": "1 - tanh(x)**2"}]


def test_missing(capsys):
    assert "    nn.functional.ctc_loss" in run(capsys, "--missing")[1].splitlines()
    document = json.loads(run(capsys, "--missing", "--format", "json")[1])
    assert {"missing", "forms"} <= set(document)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sinn"], "did you mean 'sin'?"),
        (["ctc_loss"], "not written yet"),
        (["pool"], "avg_pool1d"),
        (["--match", "xyzzy"], "no operation has 'xyzzy'"),
        (["sin", "--missing"], "exclude each other"),
        (["--format", "yaml"], "no format 'yaml'"),
    ],
)
def test_misuse_is_told(capsys, arguments, message):
    status, _, err = run(capsys, *arguments)
    assert status == 2
    assert message in err


@pytest.mark.slow
def test_every_operation_has_a_page():
    for name in operations.names():
        row = operations.row(name)
        assert row.summary, name
        assert operation_page.text(row), name
        json.loads(operation_page.json_text(row))


def test_every_elementwise_rule_stands_beside_sympys_derivative():
    """Where selects between two arguments, whose condition is no number; nothing is to be derived there."""
    without = [c.name for c in OPERATIONS if issubclass(c, Elementwise) and c.differentiable and not list(operation_page.derivatives(c))]
    assert without == ["where"]


def test_every_docstring_says_what_happens_at_a_kink():
    words = re.compile("[Kk]ink|[Tt]ie|[Dd]erivative|[Gg]radient|jump|PyTorch|[Aa]t 0|0 at")
    assert [c.name for c in OPERATIONS if c.kinks is not Operation.kinks and not words.search(c.__doc__ or "")] == []


def test_every_docstring_says_shapes_where_they_change():
    words = re.compile(r"\([^)]*(\.\.\.|\b[a-zA-Z]\b)[^)]*\).*->|[Ss]hapes?|any rank|0-d|-> \(\)|-> [\w ]+ times|\(N, C", re.DOTALL)
    missing = [c.name for c in OPERATIONS if c.differentiable and not issubclass(c, Elementwise) and not words.search(c.__doc__ or "")]
    assert missing == []
