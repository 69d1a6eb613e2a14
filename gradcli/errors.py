"""Every error that a user can meet, drawn as one tree, and the exit statuses.

    GradcliError                 what the command line prints and turns into an exit status
      UsageError                 G1xx  options, files that cannot be read
      SourceError, SourceErrors  G2xx  syntax, constructs outside the language
      ProgramError               G3xx  the program failed while it ran
        LimitError                     one of the limits of a run was reached
        UnsupportedError               something that PyTorch has and gradcli has not

Operations and engine raise what PyTorch raises, a class of Python's own; the classes
below that derive from those only say of which kind the fault is:

    ShapeError, AutogradError, DtypeError (RuntimeError), ArgumentError (TypeError),
    RangeError (IndexError), DataError (ValueError), MissingNameError (NameError), ...
"""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import NamedTuple


class ExitStatus(IntEnum):
    """Exit statuses of the command line; a bug wins over an error, an error over a failed check."""

    PASSED = 0
    FAILED = 1
    ERROR = 2
    BUG = 3
    NOTHING = 5
    INTERRUPTED = 130
    PIPE_CLOSED = 141


class Span(NamedTuple):
    """Where something stands in a source: lines and columns count from 1, the end column is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class GradcliError(Exception):
    """Anything that is told to the user instead of a traceback."""

    code = "G100"

    def __init__(self, message: str, *, hint: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code


class UsageError(GradcliError):
    """Wrong options, or a file that cannot be read."""

    code = "G101"


class SourceError(GradcliError):
    """One construct of a file that is not in the language, or is no Python at all.

    `type` is the class that Python raises ("SyntaxError"), or "UnsupportedError".
    """

    code = "G201"

    def __init__(
        self, message: str, span: Span | None, *, hint: str | None = None, type: str = "UnsupportedError", code: str | None = None
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.span = span
        self.type = type
        self.kind = "syntax" if type == "SyntaxError" else "unsupported"


class SourceErrors(GradcliError):
    """All the violations of one file, in line order."""

    code = "G201"

    def __init__(self, errors: list[SourceError]) -> None:
        super().__init__("\n".join(e.message for e in errors))
        self.errors = errors


class ProgramError(GradcliError):
    """The program failed while it ran.

    `type` is the name of the class that PyTorch or Python raises, `kind` a coarse group for scripts,
    `cause` the exception itself, which `try/except` of a file can catch.
    """

    code = "G301"

    def __init__(
        self,
        message: str,
        span: Span | None = None,
        *,
        type: str = "RuntimeError",
        kind: str = "value",
        hint: str | None = None,
        code: str | None = None,
        cause: BaseException | None = None,
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.span = span
        self.type = type
        self.kind = kind
        self.cause = cause


class LimitError(ProgramError):
    """A limit of a run was reached: the message names the limit, its value and the option that moves it."""

    code = "G320"

    def __init__(self, message: str, span: Span | None = None, *, hint: str | None = None) -> None:
        super().__init__(message, span, type="LimitError", kind="limit", hint=hint)


TOO_MANY_DIGITS = "Exceeds the limit ("
"""So Python begins where an integer is too long to be turned into decimal digits, or back, which takes time like their square."""


def too_many_digits(span: Span | None = None) -> LimitError:
    """The limit of Python in our words: its own advice is about its settings, which a file cannot reach."""
    message = f"limit reached: {sys.get_int_max_str_digits()} decimal digits of an integer"
    return LimitError(message, span, hint="hexadecimal has no such limit: f'{n:x}', 0xff, int(text, 16); n.bit_length() tells its size")


class UnsupportedError(ProgramError):
    """PyTorch or Python has this, gradcli has not."""

    code = "G310"

    def __init__(self, message: str, span: Span | None = None, *, hint: str | None = None) -> None:
        super().__init__(message, span, type="UnsupportedError", kind="unsupported", hint=hint)


class Fault:
    """What operations and engine add to Python's classes: the group of the fault and what to write instead."""

    kind = "value"
    hint: str | None = None
    shown: str | None = None
    """The name of PyTorch's own class, where it is none of Python's."""
    source: Span | None = None
    """The place that it is about, for when no line of the program runs: gradcli's own backward pass after its end."""

    def __init__(self, message: str, *, hint: str | None = None, source: Span | None = None) -> None:
        super().__init__(message)  # type: ignore[call-arg]
        self.hint = hint
        self.source = source


class ShapeError(Fault, RuntimeError):
    """Shapes do not fit together."""

    kind = "shape"


class AutogradError(Fault, RuntimeError):
    """Autograd was asked for something that it cannot do."""

    kind = "autograd"


class DtypeError(Fault, RuntimeError):
    """A value of the wrong dtype."""

    kind = "dtype"


class KernelError(Fault, NotImplementedError):
    """A dtype for which PyTorch has no form of an operation."""

    kind = "dtype"


class ArgumentError(Fault, TypeError):
    """An argument of the wrong class, or a call that does not fit the signature."""

    kind = "argument"


class RangeError(Fault, IndexError):
    """An index or a dimension out of range."""

    kind = "index"


class DataError(Fault, ValueError):
    """Data from which no tensor, or no such tensor, can be made."""

    kind = "value"


class MissingNameError(Fault, NameError):
    """A name that nothing is bound to."""

    kind = "name"


class MissingAttributeError(Fault, AttributeError):
    """An attribute that a kind of value does not have."""

    kind = "attribute"


class MissingRuleError(Fault, NotImplementedError):
    """An operation for these arguments does not exist."""

    kind = "unsupported"


def builtin_name(error: BaseException) -> str:
    """The class that PyTorch or Python would have shown: PyTorch's own where it has one, else the class of Python's."""
    if isinstance(error, Fault) and error.shown is not None:
        return error.shown
    return next(cls.__name__ for cls in type(error).__mro__ if cls.__module__ == "builtins")
