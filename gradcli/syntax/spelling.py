"""Did-you-mean: the known word that is nearest to an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SHORTEST = 4
"""A shorter beginning says nothing."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` most likely was meant to be, or None."""
    candidates = sorted({k for k in known if not k.startswith("__")})
    if len(word) > 60:
        return None
    lowered = {k.lower(): k for k in reversed(candidates)}
    if word.lower() in lowered and lowered[word.lower()] != word:
        return lowered[word.lower()]
    found = difflib.get_close_matches(word, candidates, n=1, cutoff=0.67)
    return found[0] if found else beginning(word, candidates)


def beginning(word: str, candidates: list[str]) -> str | None:
    """The longest known word that the unknown one begins with: 'gradient' for 'grad'."""
    return max((k for k in candidates if len(k) >= SHORTEST and word.startswith(k)), key=len, default=None)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """The hint "did you mean 'sigmoid'?", or None when nothing is near."""
    found = nearest(word, known)
    return None if found is None else f"did you mean {found!r}?"
