"""What each format says of the usual results: golden files, and the rules of those who read them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from junitparser import Error, Failure, JUnitXml

from gradcli.check.result import Sweep
from gradcli.errors import UsageError
from gradcli.report import formats, github, gitlab, html, junit, plot, sarif
from gradcli.report.findings import findings
from gradcli.report.text import harmless
from gradcli.report.view import View


@pytest.mark.parametrize("name", ["concise", "jsonl", "junit", "github", "gitlab", "sarif", "html"])
def test_golden(result, golden, name):
    suffix = {"junit": "xml", "concise": "txt", "github": "txt", "gitlab": "json"}.get(name, name)
    golden(f"{name}.{suffix}", formats.find(name).render(result(), View(unicode=True)))


def test_the_summary_of_a_step(result, golden):
    golden("step_summary.md", github.summary(result()))


def test_a_near_name():
    with pytest.raises(UsageError) as raised:
        formats.find("jnit")
    assert (raised.value.code, raised.value.hint) == ("G102", "did you mean 'junit'?")


def test_findings_are_about_what_counts(result):
    found = {(item.path, item.code, item.level, item.line) for item in findings(result())}
    assert found == {
        ("square.grad", "G001", "error", 5),
        ("square.grad", "G001", "error", 1),
        ("square.grad", "G006", "error", 9),
        ("where.grad", "G006", "error", 1),
        ("where.grad", "G003", "error", 8),
        ("broken.grad", "G301", "error", 2),
        ("eigen.grad", "G005", "warning", 8),
    }


def test_strict_makes_errors_of_warnings(result):
    checked = result("unchecked")
    checked.files[0].failing = True
    checked.files[0].targets[0].inputs[0].failing[:] = True
    assert [item.level for item in findings(checked)] == ["error"]


def test_junit_says_what_failed_and_where(result):
    document = JUnitXml.fromstring(junit.render(result(), View()).encode())
    kinds = {case.name: case.result for suite in document for case in suite if suite.name in ("square.grad", "broken.grad")}
    (failure,) = kinds["d out / d x"]
    assert isinstance(failure, Failure)
    assert failure.type == "G001 fail"
    assert failure.text.startswith(" square.grad:8\n")
    assert "return g * x" in failure.text
    (error,) = kinds["program"]
    assert isinstance(error, Error)
    assert error.type == "NameError"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("samples/kink.grad", "gradcli.samples.kink"),
        ("a.b/c.d.grad", "gradcli.a_b.c_d"),
        ("./x.py", "gradcli.x_py"),
        ("/tmp/x.grad", "gradcli.tmp.x"),
        ("../x.grad", "gradcli.x"),
        ("<stdin>", "gradcli.<stdin>"),
    ],
)
def test_classname(path, name):
    assert junit.classname(path) == name


def test_a_name_that_occurs_twice(result):
    checked = result("passing")
    checked.files[0].targets *= 2
    names = [case.get("name") for case in ElementTree.fromstring(junit.render(checked, View())).iter("testcase")]
    assert names == ["d out / d x", "d out / d x (2)", "assert in line 9"]


def test_github_shows_ten_and_says_how_many_more(result):
    checked = result(*["broken"] * 13, *["unchecked"] * 11)
    lines = github.render(checked, View()).splitlines()
    assert [line[:7] for line in lines] == ["::error"] * 10 + ["::warni"] * 10 + ["::notic", "24 file"]
    assert "4 more not annotated" in lines[-2]


def test_github_gives_columns_only_within_a_line(result):
    checked = result("broken")
    checked.files[0].error.span = checked.files[0].error.span._replace(end_line=3)
    assert "col=" not in github.render(checked, View())


def test_the_summary_of_a_step_fits(result):
    checked = result(*["wrong"] * 900)
    written = github.summary(checked)
    assert len(written.encode()) <= github.SUMMARY_BYTES
    assert written.count("<details>") == written.count("</details>")
    assert len(github.summary(checked, 100_000).encode()) <= github.SUMMARY_BYTES - 100_000
    assert github.summary(checked, github.SUMMARY_BYTES - 10) == ""


def test_sarif_paths(result):
    checked = result("broken", "passing")
    checked.files[0].path, checked.files[1].path = "a b/ü#.grad", "/abs/x.grad"
    relative, absolute = (item["location"] for item in sarif.document(checked)["runs"][0]["artifacts"])
    assert relative == {"uri": "a%20b/%C3%BC%23.grad", "uriBaseId": "%SRCROOT%"}
    assert absolute == {"uri": "file:///abs/x.grad"}


def test_sarif_fingerprints_stay_when_lines_move(result):
    def prints(checked):
        return [item["partialFingerprints"] for item in sarif.document(checked)["runs"][0]["results"]]

    before, moved = result("wrong"), result("wrong")
    moved.files[0].targets[0].blame.line = 4
    assert prints(before) == prints(moved)


def test_gitlab_paths_and_severities(result, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    checked = result("broken", "unchecked", "wrong")
    checked.files[0].path, checked.files[1].path, checked.files[2].path = str(tmp_path / "a" / "b.grad"), "./c.grad", "/elsewhere/d.grad"
    entries = json.loads(gitlab.render(checked, View()))
    assert [(e["location"]["path"], e["check_name"], e["severity"]) for e in entries] == [
        ("a/b.grad", "G301", "major"), ("/elsewhere/d.grad", "G001", "major"), ("/elsewhere/d.grad", "G001", "major"),
        ("/elsewhere/d.grad", "G006", "major"), ("c.grad", "G005", "minor"),
    ]  # fmt: skip
    assert json.loads(gitlab.render(result("passing"), View())) == []


def sweep(fault: float) -> Sweep:
    steps = 2.0 ** -np.arange(1, 45)
    right = steps**2 + 1e-16 / steps
    return Sweep(steps, right + fault, right)


def test_a_plot_says_what_it_shows():
    drawn = ElementTree.fromstring(plot.plot(sweep(0.5), "k", "d out / d x", "autograd"))
    texts = {element.get("id"): element.text for element in drawn.iter() if element.get("id")}
    assert "d out / d x" in texts["k-t"]
    assert texts["k-d"].startswith("Against symbolic the relative error is smallest, ")
    assert "Against autograd the relative error is smallest, 5.0e-01" in texts["k-d"]
    for line in drawn.iter("{http://www.w3.org/2000/svg}polyline"):
        for point in line.get("points").split():
            x, y = map(float, point.split(","))
            assert plot.LEFT <= x <= plot.WIDTH - plot.RIGHT
            assert plot.TOP <= y <= plot.HEIGHT - plot.BOTTOM


def test_a_plot_leaves_out_what_is_not_finite():
    shown = sweep(0.0)
    shown.judged[[3, 4, 20]] = np.nan
    shown.judged[-1] = 0.0
    drawn = plot.plot(shown, "k", "d", "autograd")
    assert drawn.count("<polyline") == 4
    shown.judged[:] = np.nan
    assert "Against autograd: no finite value." in plot.plot(shown, "k", "d", "autograd")


def test_html_shows_plots_and_graphs(result):
    checked = result("wrong", "passing")
    checked.files[0].targets[0].inputs[0].sweep = sweep(0.5)
    checked.files[1].picture = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    page = html.render(checked, View())
    assert page.count("<figure>") == page.count("<img ") == 1
    assert 'src="data:image/svg+xml;base64,' in page
    assert 'aria-labelledby="file-1-1-plot-1-t file-1-1-plot-1-d"' in page


def test_jsonl_is_the_files_of_the_document(result):
    whole = json.loads(formats.find("json").render(result(), View()))["files"]
    lines = [json.loads(line) for line in formats.find("jsonl").render(result(), View()).splitlines()]
    assert [{**file, "schema": "gradcli.file/1"} for file in whole] == lines


def test_what_a_ci_system_would_obey():
    assert harmless("  ::error::x\na ::b\n##[group]\nx##vso[y]\n# ## [z]") == "  : :error::x\na ::b\n# #[group]\nx# #vso[y]\n# ## [z]"
