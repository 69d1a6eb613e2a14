"""The shipped table of derivatives: what SymPy derives now, and what the operations are now."""

from __future__ import annotations

import subprocess
import sys

import mpmath
import numpy as np
import pytest
import sympy

from gradcli.ops.arithmetic import Power
from gradcli.references import derivatives, derived, tabulate


@pytest.mark.skipif(sympy.__version__ != derivatives.SYMPY, reason="the table was made by another SymPy, and is not used with this one")
def test_the_shipped_table_is_what_sympy_derives() -> None:
    with np.errstate(all="ignore"):
        assert tabulate.module_text() == tabulate.TABLE_FILE.read_text("utf-8"), "run python -m gradcli.references.tabulate"


@pytest.mark.slow
def test_shipped_and_fresh_evaluators_give_the_same() -> None:
    compared = 0
    with np.errstate(all="ignore"), mpmath.workdps(50):
        for op, decision, truths in tabulate.derivations():
            shipped = derived.stored(op, decision, truths, mpmath)
            if shipped is None:
                continue
            fresh = derived._derive(op, decision, truths, mpmath)
            point = [mpmath.mpf(k + 3) / 7 for k in range(len(op.arguments))]
            extra = mpmath.mpf(decision) if isinstance(decision, float) else None
            for ours, theirs in zip((shipped.value, *shipped.partials), (fresh.value, *fresh.partials)):
                assert (ours is None) == (theirs is None)
                a, b = (None if f is None else derived.attempt(f, point, extra) for f in (ours, theirs))
                assert a == b or (a is not None and b is not None and mpmath.almosteq(a, b, 1e-45)), op
                compared += 1
    assert compared > 300


def test_what_is_not_in_the_table_is_derived() -> None:
    op = Power(exponent=3.25)
    assert derived.stored(op, None, (), mpmath) is None
    assert derived.derive(op, None).partials[0](mpmath.mpf(2), None) == pytest.approx(3.25 * 2**2.25)  # type: ignore[misc]


def test_afresh_asks_sympy() -> None:
    op = Power(exponent=2)
    assert derived.stored(op, None, (), mpmath) is not None
    with derived.afresh:
        assert derived.stored(op, None, (), mpmath) is None
        assert derived.derive(op, None).partials[0](mpmath.mpf(3), None) == 6  # type: ignore[misc]


def test_a_check_of_usual_operations_does_without_sympy() -> None:
    program = (
        "import sys; from gradcli.check import check_file, CheckOptions; "
        "text = 'x = tensor([0.5, -1.5], requires_grad=True)\\ny = (x.sin() * x.exp() + relu(x) ** 2).sum()'; "
        "print(check_file('a.grad', text, CheckOptions()).status, 'sympy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["pass", "False"]


def test_the_table_is_used_with_the_sympy_that_made_it_alone(monkeypatch):
    for version, used in ((sympy.__version__, True), ("0.0.1", False)):
        monkeypatch.setattr(derivatives, "SYMPY", version)
        assert derived.current.__wrapped__() is used
    monkeypatch.setattr(derived, "find_spec", lambda name: None)
    assert not derived.current.__wrapped__()
