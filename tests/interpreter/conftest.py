"""Running small programs."""

import textwrap

import pytest

from gradcli.errors import ProgramError
from gradcli.interpreter import Run, run_file
from gradcli.syntax import Source


def run_text(text: str, **options) -> Run:
    return run_file(Source("program.grad", textwrap.dedent(text)), **options)


@pytest.fixture
def run():
    """`run(text)` gives the Run of a program that must not fail."""

    def checked(text: str, **options) -> Run:
        result = run_text(text, **options)
        if result.error is not None:
            raise AssertionError(f"{result.error.type}: {result.error.message} at {result.error.span}")
        return result

    return checked


@pytest.fixture
def printed(run):
    """`printed(text)` gives what a program prints."""
    return lambda text, **options: run(text, **options).output


@pytest.fixture
def failure():
    """`failure(text)` gives the error that ends a program."""

    def failing(text: str, **options) -> ProgramError:
        error = run_text(text, **options).error
        assert error is not None, "the program does not fail"
        return error

    return failing
