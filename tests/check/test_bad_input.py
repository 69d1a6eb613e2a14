"""A mistake of the author is one clear error, never a traceback."""

from __future__ import annotations

import pytest

from gradcli.check import CheckOptions, check_file

X = "x = tensor([1.0, 2.0], requires_grad=True)\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = = 2", 1, "syntax"),
        (X + "y = x @ tensor([1.0, 2.0, 3.0])", 2, "size"),
        (X + "y = undefined_name * x", 2, "undefined_name"),
        (X + "y = x * x\ny.backward()", 3, "grad can be implicitly created only for scalar outputs"),
        (X + "y = (x * x).sum()\ny.backward()\ny.backward()", 4, "second time"),
        (X + "check(x.sum(), wrt=[tensor([1.0])])", 2, "does not require grad"),
        (X + "check(tensor([1.0]))", 2, "does not require grad"),
        (X + "check(3)", 2, "tensor"),
        (X + "y = x ** 2\ncheck(y, grad_outputs=tensor([1.0, 2.0, 3.0]))", 3, "shape"),
        (
            X + "class F(Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x\n"
            "    @staticmethod\n    def backward(ctx, g):\n        return g, g\ny = F.apply(x).sum()",
            None,
            "incorrect number of gradients",
        ),
        (X + "y = 1 / 0", 2, "division by zero"),
        (X + "h = exp(x)\nh += 1\nh.exp_()\ny = h.sum()\nimport os", 6, "os"),
    ],
)
def test_errors_have_a_line_and_words(check, text: str, line: int | None, words: str) -> None:
    found = check(text, error=True)
    assert found.status == "error"
    assert found.failing
    assert words.lower() in str(found.error).lower() or words.lower() in str(getattr(found.error, "errors", "")).lower()
    span = getattr(found.error, "span", None)
    if line is not None and span is not None:
        assert span.line == line


@pytest.mark.parametrize(("options", "words"), [({"output": "z"}, "z"), ({"wrt": ("q",)}, "q"), ({"output": "n"}, "n")])
def test_options_that_name_nothing(check, options: dict, words: str) -> None:
    found = check(X + "n = 3\ny = (x * x).sum()", error=True, **options)
    assert f" {words}:" in str(found.error)


def test_a_tower_of_exponentials_ends(check) -> None:
    found = check("x = tensor(9.0, requires_grad=True)\ny = exp(exp(exp(exp(x))))")
    assert found.seconds < 20
    assert found.targets[0].status == "nan"


def test_an_empty_file(check) -> None:
    found = check("# nothing\n", error=True)
    assert "empty" in str(found.error)


def test_a_file_that_is_not_there() -> None:
    found = check_file("/nowhere/at/all.grad", None, CheckOptions())
    assert found.status == "error"
    assert "No such file" in str(found.error)


def test_a_file_that_is_no_text(tmp_path) -> None:
    path = tmp_path / "bytes.grad"
    path.write_bytes(b"\xff\xfe\x00x")
    found = check_file(str(path), None, CheckOptions())
    assert found.status == "error"
    assert "UTF-8" in str(found.error)


def test_what_a_failing_program_asserted_is_kept(check) -> None:
    found = check(X + "assert x[0] == 1\ny = x.nothing()", error=True)
    assert [a.status for a in found.asserts] == ["pass"]
