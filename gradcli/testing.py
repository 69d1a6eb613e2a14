"""Checks of gradients as assertions, for tests: `from gradcli.testing import check`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from gradcli.api.checked import Checked
from gradcli.api.checking import check as check_program
from gradcli.api.gradient import check_gradient


def check(what: Callable[..., Any] | str | os.PathLike[str], *args: Any, **options: Any) -> Checked:
    """Check a function or a file, and raise AssertionError with the table unless it passes.

    A function goes to `gradcli.check_gradient(f, grad, x0, ...)`, a path or the text of a program to `gradcli.check(...)`; both say
    which options there are. Kinks, rounding and NaN where there is no derivative pass unless `strict=True`; what could not be checked
    does not pass. Returns the result.

        >>> from gradcli.testing import check
        >>> check(lambda x: x**2, lambda x: 2 * x, 3.0).status
        'pass'
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    found = check_gradient(what, *args, **options) if callable(what) else check_program(what, *args, **options)
    if not found:
        raise AssertionError(f"\n{found}")
    return found
