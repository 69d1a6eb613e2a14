"""`check(text)`: what checking a program finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gradcli.check import CheckOptions, check_file
from gradcli.check.result import FileResult


@pytest.fixture(scope="session")
def check() -> Callable[..., FileResult]:
    """`check(text, **options)` checks a program; it must run unless `error` is expected."""

    def run(text: str, *, error: bool = False, **options: Any) -> FileResult:
        found = check_file("t.grad", text, CheckOptions(**options))
        assert (found.error is not None) is error, found.error
        return found

    return run
