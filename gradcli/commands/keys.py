"""What can be configured: every option of `gradcli check`, which the other commands share as far as they have it."""

from __future__ import annotations

import inspect
from functools import cache

from gradcli.commands.check import check
from gradcli.commands.configuration import keys_of
from gradcli.commands.entry import spread
from gradcli.config.key import EXCLUDE, INCLUDE, Key


@cache
def keys() -> list[Key]:
    """A key for each option, in the order of `gradcli check --help`, and those that are no options."""
    return [*keys_of(spread(inspect.signature(check, eval_str=True))), INCLUDE, EXCLUDE]
