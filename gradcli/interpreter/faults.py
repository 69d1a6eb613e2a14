"""From an exception that a program raised to a ProgramError with its place."""

from __future__ import annotations

import re
import types
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.module import Module
from gradcli.engine.node import Node
from gradcli.engine.tensor import Tensor
from gradcli.errors import TOO_MANY_DIGITS, Fault, GradcliError, LimitError, ProgramError, Span, builtin_name, too_many_digits
from gradcli.interpreter.limits import Limits
from gradcli.interpreter.meter import Meter
from gradcli.interpreter.values import BoundMethod, Kind, LazyIterator, module

TOLD = (
    RuntimeError, TypeError, ValueError, IndexError, KeyError, ArithmeticError, NameError, StopIteration, ImportError,
    Fault,
)  # fmt: skip
"""What a call may raise on behalf of the program; anything else is a bug of gradcli's unless the file raised it itself."""

KINDS = {
    "NameError": "name", "UnboundLocalError": "name", "AttributeError": "attribute", "TypeError": "type", "IndexError": "index",
    "KeyError": "key", "ValueError": "value", "ZeroDivisionError": "arithmetic", "OverflowError": "arithmetic",
    "AssertionError": "assertion", "NotImplementedError": "unsupported", "ImportError": "import", "RuntimeError": "runtime",
}  # fmt: skip


@dataclass
class Place:
    """Where an exception was raised, and the calls that led there, innermost first. `told` when the file or a table raised it."""

    span: Span | None
    callers: list[Span] = field(default_factory=list)
    told: bool = False


PLACE = "_gradcli_place"


def place_of(error: BaseException) -> Place | None:
    found = error.__dict__.get(PLACE)
    return found if isinstance(found, Place) else None


def placed(error: BaseException, span: Span | None) -> BaseException:
    """The exception, marked as raised by the program at `span`."""
    error.__dict__[PLACE] = Place(span, told=True)
    return error


def trail(error: BaseException, caller: Span | None) -> None:
    """Note that an exception passed through a call made at `caller`; the first to see it notes where it arose."""
    place = place_of(error)
    if place is None:
        place = error.__dict__[PLACE] = Place(state.span)
    if caller is not None:
        place.callers.append(caller)


def is_told(error: BaseException) -> bool:
    """Whether an exception is the program's, not a bug of ours."""
    if isinstance(error, (GradcliError, RecursionError, MemoryError)):
        return False
    place = place_of(error)
    return isinstance(error, TOLD) or (place is not None and place.told) or wants_tensor(error)


PLAIN = (
    bool, int, float, complex, str, list, tuple, dict, set, range, slice, type, type(None), type(...), np.dtype, Module, Node, BoundMethod,
    Kind, LazyIterator, module, types.FunctionType, types.BuiltinFunctionType, types.MethodType, partial,
)  # fmt: skip
"""What a program can have that is no tensor."""


def wants_tensor(error: BaseException) -> bool:
    """Did an operation ask another kind of value for what only tensors have? Most take it for granted that they get tensors."""
    return type(error) is AttributeError and isinstance(error.obj, PLAIN) and hasattr(Tensor, error.name or "")


def program_error(error: BaseException) -> ProgramError | None:
    """What is told to the user; None for a bug of gradcli's own."""
    place = place_of(error) or Place(state.span)
    if isinstance(error, RecursionError):
        found: ProgramError = LimitError("limit reached: recursion", place.span, hint="the program calls itself too deep")
    elif isinstance(error, MemoryError):
        found = LimitError("limit reached: memory", place.span, hint="use smaller tensors")
    elif type(error) is ValueError and message_of(error).startswith(TOO_MANY_DIGITS):
        found = too_many_digits(place.span)
    elif isinstance(error, ProgramError):
        found = error
        found.span = found.span or place.span
    elif isinstance(error, AttributeError) and wants_tensor(error):
        found = ProgramError(f"expected a Tensor as an argument, not {type(error.obj).__name__}", place.span, type="TypeError", kind="type")
    elif is_told(error):
        name = builtin_name(error)
        kind = error.kind if isinstance(error, Fault) else KINDS.get(name, "value")
        found = ProgramError(
            message_of(error),
            place.span or getattr(error, "source", None),
            type=name,
            kind=kind,
            hint=getattr(error, "hint", None),
            cause=error,
            code="G301",
        )
    else:
        return None
    found.callers = tuple(place.callers)  # type: ignore[attr-defined]
    return found


DTYPE_CLASS = re.compile(r"'numpy\.dtypes\.\w+'")
"""NumPy has a class for each dtype, PyTorch one for all."""


def message_of(error: BaseException) -> str:
    """The text that Python shows after the class name."""
    try:
        Meter(Limits()).scan(error.args)
        return DTYPE_CLASS.sub("'torch.dtype'", str(error))
    except LimitError:
        return "(a message too deep to be shown)"
    except ValueError:
        return "(a message with a number too long to be shown)"
