"""What can be configured: one key for each option of the command line, with the type of its value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

METHODS = ("all", "symbolic", "fd")
REPORTED = ("kink", "nan", "unstable", "unchecked")
"""Verdicts that count as passed unless asked otherwise."""
FAILURES = (*REPORTED, "fail")


@dataclass(frozen=True)
class Key:
    """`name` is spelled as the option, without the dashes before it; `type` is that of one item where there are `many`.

    `each`: can it differ from file to file? `folder`: it names one, relative to that of the configuration.
    """

    name: str
    parameter: str
    type: Any
    default: Any = None
    many: bool = False
    choices: Sequence[str] = ()
    minimum: float | None = None
    maximum: float | None = None
    each: bool = True
    folder: bool = False

    @property
    def wanted(self) -> str:
        """The type in words."""
        words = {bool: "true or false", int: "a whole number", float: "a finite number", str: "a string"}
        one = f"one of {', '.join(self.choices)}" if self.choices else words[self.type]
        at_least = "" if self.minimum is None else f" of at least {self.minimum:g}"
        at_most = "" if self.maximum is None else f" and at most {self.maximum:g}"
        return f"{'an array, each item ' if self.many else ''}{one}{at_least}{at_most}"

    def value(self, given: Any) -> Any:
        """The value of the option; ValueError where it is of another type, or out of range."""
        if not self.many:
            return self._one(given)
        if not isinstance(given, list):
            raise ValueError(self.wanted)
        return [self._one(item) for item in given]

    def _one(self, given: Any) -> Any:
        if self.type is float and type(given) is int:
            given = float(given)
        right = given in self.choices if self.choices else type(given) is self.type and (self.type is not float or math.isfinite(given))
        if not right or not self._within(given):
            raise ValueError(self.wanted)
        return self.type(given)

    def _within(self, given: Any) -> bool:
        return (self.minimum is None or given >= self.minimum) and (self.maximum is None or given <= self.maximum)


INCLUDE = Key("include", "include", str, default=["*.grad"], many=True, each=False)
EXCLUDE = Key("exclude", "exclude", str, default=[], many=True, each=False)
