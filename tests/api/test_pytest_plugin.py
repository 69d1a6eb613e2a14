"""The pytest plugin, in runs of pytest inside this one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from xml.etree import ElementTree

import pytest

import gradcli.api.verdict
import gradcli.testing  # noqa: F401 - an inner pytest forgets the modules that it loads, so these are loaded before
from gradcli.check.options import CheckOptions
from gradcli.pytest_plugin import OPTIONS

ROOT = Path(__file__).resolve().parents[2]
GOOD = "x = tensor([1., 2.], requires_grad=True)\ny = (x * x).sum()\n"
SEVERAL = """x = tensor(2., requires_grad=True)
y = x * x
check(y)
claim(y, x, 3 * x)
assert y == 4
assert y == 5
"""
WRONG = """from torch.autograd import Function
class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x
x = tensor([1., 2.], requires_grad=True)
Square.apply(x).sum().backward()
"""
KINK = "x = tensor(0., requires_grad=True)\ny = relu(x)\n"


@pytest.fixture(autouse=True)
def _light(monkeypatch):
    """An inner pytest loads its plugins anew each time; hypothesis takes longer than all that is tested here."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest -p no:cacheprovider")


@pytest.fixture
def files(pytester):
    """Put files where an inner pytest runs; names without suffix get `.grad`."""

    def write(**texts: str):
        for name, text in texts.items():
            (pytester.path / f"{name}.grad").write_text(text, encoding="utf-8")
        return pytester

    return write


def names(result) -> list[str]:
    return [line for line in result.outlines if "::" in line and not line.startswith(("FAILED", "_"))]


def test_nothing_is_collected_unless_asked(files):
    inside = files(good=GOOD)
    assert inside.runpytest_inprocess().ret == pytest.ExitCode.NO_TESTS_COLLECTED
    inside.runpytest_inprocess("--grad").assert_outcomes(passed=1)
    inside.runpytest_inprocess("good.grad").assert_outcomes(passed=1)
    inside.makeini("[pytest]\ngradcli = true\n")
    inside.runpytest_inprocess().assert_outcomes(passed=1)


def test_an_item_for_each_part_with_its_line(files):
    inside = files(several=SEVERAL, wrong=WRONG, good=GOOD)
    result = inside.runpytest_inprocess("--grad", "--collect-only", "-q")
    assert names(result) == [
        "good.grad::output:2",
        "several.grad::check(y):3",
        "several.grad::claim(y):4",
        "several.grad::assert:5",
        "several.grad::assert:6",
        "wrong.grad::Square.apply(x).sum().backward():12",
        "wrong.grad::Square.backward:2",
    ]


def test_collecting_runs_nothing_and_loads_nothing(files):
    inside = files(good="x = tensor(1., requires_grad=True)\nwhile True:\n    x = x * 1\n")
    code = "import sys, pytest; pytest.main(['--grad', '--collect-only', '-q']); print([m for m in ('numpy', 'sympy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", cwd=inside.path, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout


def test_failures_are_shown_as_tables_without_a_traceback(files):
    inside = files(several=SEVERAL, wrong=WRONG)
    result = inside.runpytest_inprocess("--grad")
    result.assert_outcomes(passed=2, failed=4)
    text = result.stdout.str()
    assert "Traceback" not in text
    assert "pytest_plugin.py" not in text
    result.stdout.fnmatch_lines(
        [
            "several.grad:4: FAIL  d y / d x: 1 of 1 element, largest relative error 5.0e-01 [[]G001[]]",
            "    x     6        4 *FAIL",
            "several.grad:6: the assertion does not hold: y == 5 [[]G006[]]",
            "wrong.grad:12: FAIL  d * / d x: 2 of 2 elements*",
            "  blame: Square, line 10:*",
            "  FAIL  Square.backward alone, line 2 [[]G001[]]",
        ]
    )


def test_one_part_by_its_name_and_by_keyword(files):
    inside = files(several=SEVERAL)
    inside.runpytest_inprocess("several.grad::check(y):3").assert_outcomes(passed=1)
    inside.runpytest_inprocess("--grad", "-k", "claim").assert_outcomes(failed=1, deselected=3)
    inside.runpytest_inprocess("--grad", "-x").assert_outcomes(passed=1, failed=1)


def test_options(files):
    inside = files(kink=KINK)
    inside.runpytest_inprocess("--grad").assert_outcomes(passed=1)
    inside.runpytest_inprocess("--grad", "--gradcli-strict").assert_outcomes(failed=1)
    inside.runpytest_inprocess("--grad", "--gradcli-fail-on", "kink,nan").assert_outcomes(failed=1)
    files(seeded="x = rand(2, requires_grad=True)\ny = x.sum()\nassert y > 1.1\n")
    inside.runpytest_inprocess("seeded.grad", "--gradcli-seed", "1").assert_outcomes(passed=2)


def test_the_options_are_those_of_a_check():
    """Those that are missing choose what is checked in one file, or are about what a report shows."""
    single = {"output", "wrt", "grad_outputs", "order", "set", "limits", "formulas", "sweep", "configured", "fresh"}
    assert [option.name for option in OPTIONS if option.name not in {f.name for f in fields(CheckOptions)}] == []
    assert {f.name for f in fields(CheckOptions)} - {option.name for option in OPTIONS} <= single


ROUGH = "x = tensor(1.0, requires_grad=True)\nout = x * 3\nclaim(out, x, 3.003)\n"
STATED = "# gradcli: rtol=0.1\n" + ROUGH


@pytest.mark.parametrize(
    ("text", "config", "ini", "option", "passes"),
    [
        (ROUGH, "", "", "", False),
        (ROUGH, "rtol = 0.1", "", "", True),
        (ROUGH, '[per-file."rough.*"]\nrtol = 0.1', "", "", True),
        (ROUGH, '[per-file."other.*"]\nrtol = 0.1', "", "", False),
        ("# gradcli: rtol=1e-9\n" + ROUGH, "rtol = 0.1", "", "", False),
        (STATED, "rtol = 1e-9", "", "", True),
        (ROUGH, "rtol = 1e-9", "gradcli_rtol = 0.1", "", True),
        (ROUGH, "rtol = 0.1", "gradcli_rtol = 1e-9", "", False),
        (ROUGH, "", "gradcli_rtol = 1e-9", "--gradcli-rtol=0.1", True),
        (ROUGH, "rtol = 0.1", "gradcli_rtol = 0.1", "--gradcli-rtol=1e-9", False),
        (ROUGH, "rtol = 0.1", "", "--gradcli-no-config", False),
        (ROUGH, "", "", "--gradcli-config=other.toml", True),
    ],
)
def test_what_counts_more_than_what(files, text, config, ini, option, passes):
    inside = files(rough=text)
    (inside.path / "gradcli.toml").write_text(config)
    (inside.path / "other.toml").write_text("rtol = 0.1\n")
    inside.makeini(f"[pytest]\n{ini}\n")
    result = inside.runpytest_inprocess("rough.grad", *([option] if option else []))
    result.assert_outcomes(passed=int(passes), failed=int(not passes))


def test_limits_data_and_the_nearest_configuration(files):
    inside = files(loop="x = tensor(1.0, requires_grad=True)\nfor i in range(100):\n    y = x * i\n")
    (inside.path / "pyproject.toml").write_text("[tool.gradcli]\nmax-steps = 50\n")
    for name in ("sub", "sub/nums"):
        (inside.path / name).mkdir()
    (inside.path / "sub" / "gradcli.toml").write_text('data = "nums"\n')
    (inside.path / "sub" / "nums" / "w.csv").write_text("2\n3\n")
    (inside.path / "sub" / "load.grad").write_text('w = load("w.csv")\nx = tensor(1.0, requires_grad=True)\ny = (w * x).sum()\n')
    result = inside.runpytest_inprocess("--grad")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*limit reached: 50 steps*"])


def test_include_and_exclude(files):
    inside = files(good=GOOD, draft=GOOD)
    (inside.path / "net.txt").write_text(GOOD)
    (inside.path / "one.fpcore").write_text("(FPCore (x) :pre (< 1 x 2) (* x x))")
    collected = names(inside.runpytest_inprocess("--grad", "--collect-only", "-q"))
    assert [name.partition("::")[0] for name in collected] == ["draft.grad", "good.grad", "one.fpcore"]
    (inside.path / "gradcli.toml").write_text('include = ["*.grad", "net.*"]\nexclude = ["draft.*"]\n')
    collected = names(inside.runpytest_inprocess("--grad", "--collect-only", "-q"))
    assert [name.partition("::")[0] for name in collected] == ["good.grad", "net.txt"]
    inside.runpytest_inprocess("draft.grad").assert_outcomes(passed=1)


def test_a_faulty_configuration_is_told_with_its_line(files):
    inside = files(good=GOOD)
    (inside.path / "gradcli.toml").write_text("strikt = true\n")
    result = inside.runpytest_inprocess("--grad")
    result.assert_outcomes(errors=1)
    assert "gradcli.toml:1: unknown key 'strikt' [G113]" in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(
    ("option", "ini", "message"),
    [
        ("--gradcli-fail-on=kinks", "", "no verdict 'kinks'"),
        ("--gradcli-method=symbloic", "", "no reference 'symbloic'"),
        ("", "gradcli_rtol = much", "gradcli_rtol: could not convert"),
    ],
)
def test_options_that_are_none(files, option, ini, message):
    inside = files(good=GOOD)
    inside.makeini(f"[pytest]\n{ini}\n")
    result = inside.runpytest_inprocess("--grad", *([option] if option else []))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = sni(2.\n", "bad.grad:1:8: SyntaxError: '(' was never closed"),
        ("x = tensor(1., requires_grad=True)\ny = sinn(x)\n", "bad.grad:2:5: NameError: name 'sinn' is not defined"),
        ("# gradcli: expect sorrow\n", "bad.grad:1:1: DirectiveError: unknown expectation 'sorrow'"),
    ],
)
def test_files_that_cannot_be_checked_fail_with_our_words_and_the_others_go_on(files, text, message):
    result = files(bad=text, good=GOOD).runpytest_inprocess("--grad")
    result.assert_outcomes(passed=1, failed=1)
    assert message in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


def test_a_file_that_is_no_text(pytester):
    (pytester.path / "bad.grad").write_bytes(b"\xff\xfe\x00")
    result = pytester.runpytest_inprocess("--grad")
    result.assert_outcomes(errors=1)
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(
    ("text", "passed", "failed"),
    [
        ("# gradcli: expect fail\n" + WRONG, 3, 0),
        ("# gradcli: expect kink\n" + KINK, 2, 0),
        ("# gradcli: expect error\nx = sni(2.\n", 1, 0),
        ("# gradcli: expect error\nx = sinn(2.)\n", 1, 0),
        ("# gradcli: expect fail\n" + GOOD, 1, 1),
    ],
)
def test_expectations_are_honoured(files, text, passed, failed):
    files(announced=text).runpytest_inprocess("--grad").assert_outcomes(passed=passed, failed=failed)


def test_what_was_not_checked_is_skipped(files):
    files(nothing="x = tensor(1.)\ny = x * 2\n").runpytest_inprocess("--grad").assert_outcomes(skipped=1)


def test_cores_of_an_fpcore_file(pytester):
    (pytester.path / "two.fpcore").write_text("(FPCore square (x) :pre (< 1 x 2) (* x x))\n(FPCore root (x) :pre (< 1 x 2) (sqrt x))\n")
    result = pytester.runpytest_inprocess("--grad", "-v")
    result.assert_outcomes(passed=2)
    assert [line.split()[0].rpartition("::")[2] for line in result.outlines if "PASSED" in line] == ["square:1", "root:2"]


def test_expectations_of_an_fpcore_file(pytester):
    (pytester.path / "one.fpcore").write_text("; gradcli: expect kink\n(FPCore (x) :pre (< 1 x 2) (* x x))\n")
    (pytester.path / "bad.fpcore").write_text("; gradcli: expect error\n(FPCore (x)\n")
    result = pytester.runpytest_inprocess("--grad", "-v")
    result.assert_outcomes(passed=2, failed=1)
    assert "one.fpcore::expect kink:1 FAILED" in result.stdout.str()


def test_junit_xml(files):
    inside = files(several=SEVERAL)
    inside.runpytest_inprocess("--grad", "--junitxml=out.xml")
    (suite,) = ElementTree.parse(inside.path / "out.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "2", "0")
    cases = {case.get("name"): case for case in suite}
    assert [p.get("value") for p in cases["check(y):3"].iter("property")] == ["pass", "per-node", "full"]
    assert "d y / d x: 1 of 1 element" in (cases["claim(y):4"].find("failure").text or "")


def test_with_xdist(files):
    pytest.importorskip("xdist")
    inside = files(several=SEVERAL, wrong=WRONG, good=GOOD)
    result = inside.runpytest_subprocess("--grad", "-n", "2", "--dist", "loadfile")
    result.assert_outcomes(passed=3, failed=4)
    result.stdout.fnmatch_lines(["*several.grad:4: FAIL  d y / d x*"])


def test_what_a_file_says_steers_no_terminal_and_breaks_no_worker(files):
    strange = "\\x1b[31m\\ud800\\x00\\n::error::boo\\uffff"
    files(a=GOOD + f'assert x.sum() > 9, "{strange}"\n', b=GOOD)
    done = files().runpytest_subprocess("--grad", "-p", "xdist", "-n", "2", "--junitxml=out.xml")
    done.assert_outcomes(passed=2, failed=1)
    assert "the assertion does not hold: \\x1b[31m\\ud800\\x00" in done.stdout.str()
    assert not any(line.startswith("::") for line in done.outlines)
    assert ElementTree.parse(files().path / "out.xml").getroot()[0].get("failures") == "1"


def test_the_samples_with_xdist_keywords_junit_and_a_configuration(pytester):
    pytest.importorskip("xdist")
    shutil.copytree(ROOT / "samples", pytester.path / "samples")
    (pytester.path / "samples" / "rough.grad").write_text(ROUGH)
    (pytester.path / "gradcli.toml").write_text('exclude = ["samples/vanishing.grad"]\n[per-file."rough.grad"]\nrtol = 0.1\n')
    result = pytester.runpytest_subprocess("-p", "xdist", "-n", "2", "--grad", "samples", "-k", "not nan", "--junitxml=out.xml")
    counts = result.parseoutcomes()
    (suite,) = ElementTree.parse(pytester.path / "out.xml").getroot()
    cases = [case.get("classname") for case in suite]
    assert (result.ret, set(counts)) == (0, {"passed"})
    assert (suite.get("tests"), len(cases)) == (str(counts["passed"]), counts["passed"])
    assert len(cases) > 20
    assert "samples.rough.grad" in cases
    assert not [name for name in cases if "nan" in name or "vanishing" in name]


def test_the_fixture_and_the_function(pytester):
    pytester.makepyfile(
        """
        import numpy as np
        from gradcli.testing import check

        def test_right(gradcheck):
            assert gradcheck(lambda x: np.sum(x**2), lambda x: 2 * x, np.array([1.0, 2.0])).status == "pass"

        def test_wrong(gradcheck):
            gradcheck(lambda x: np.sum(x**2), lambda x: x, np.array([1.0, 2.0]))

        def test_program():
            check("x = tensor(0., requires_grad=True)\\ny = relu(x)\\n")

        def test_strict_by_option(gradcheck):
            gradcheck("x = tensor(0., requires_grad=True)\\ny = relu(x)\\n")

        def test_by_the_configuration(gradcheck):
            gradcheck(lambda x: np.sum(x**2), lambda x: 2.002 * x, np.array([1.0, 2.0]))
        """
    )
    (pytester.path / "gradcli.toml").write_text("rtol = 0.01\n")
    result = pytester.runpytest_inprocess("--gradcli-strict")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(["E *FAIL  d f / d x: 2 of 2 elements*"])
    assert "testing.py" not in result.stdout.str()
