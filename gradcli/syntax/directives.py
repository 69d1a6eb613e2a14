"""Comments that steer a file: `# gradcli: expect fail`, `# gradcli: rtol=1e-6`, `# gradcli: surrogate`; behind `;` in FPCore."""

from __future__ import annotations

import contextlib
import io
import math
import re
import tokenize
from dataclasses import dataclass, field

from gradcli.errors import SourceError, Span
from gradcli.syntax.source import Source
from gradcli.syntax.spelling import did_you_mean

EXPECTATIONS = ("pass", "fail", "kink", "nan", "unstable", "error")
DIRECTIVE = "DirectiveError"
"""The type of what is wrong with such a comment."""
NAMES = ("expect", "rtol", "surrogate")
COMMENT = re.compile(r"(?:#+|;+)\s*gradcli\s*:\s*")
FPCORE_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|(?P<comment>;[^\n]*)', re.DOTALL)
"""And strings, in which there are none."""
FORMS = "the directives are: expect WORD, rtol=NUMBER, surrogate"


@dataclass
class Directives:
    """What the comments of a file ask for."""

    expect: str | None = None
    expect_line: int | None = None
    rtol: float | None = None
    surrogates: set[int] = field(default_factory=set)
    """Lines of the comments that mark a user Function's backward as meant to differ."""


def read_directives(source: Source) -> tuple[Directives, list[SourceError]]:
    """The directives of a file, and what is wrong with those that are none."""
    found, errors = Directives(), []
    if "gradcli" in source.text:
        for line, column, comment in comments(source.text, fpcore=source.is_fpcore):
            match = COMMENT.match(comment)
            if match:
                try:
                    take(found, comment[match.end() :].strip(), line)
                except SourceError as error:
                    error.span = Span(line, column + 1, line, column + 1 + len(comment))
                    errors.append(error)
    return found, errors


def expectation(source: Source | None) -> str | None:
    """What a file expects of its check, even if nothing else in it can be understood."""
    return None if source is None else read_directives(source)[0].expect


def comments(text: str, *, fpcore: bool = False) -> list[tuple[int, int, str]]:
    """Line, column and text of every comment; those after the first error of the tokenizer are the parser's to refuse."""
    if fpcore:
        matches = (match for match in FPCORE_COMMENT.finditer(text) if match["comment"])
        return [(text.count("\n", 0, m.start()) + 1, m.start() - text.rfind("\n", 0, m.start()) - 1, m["comment"]) for m in matches]
    found: list[tuple[int, int, str]] = []
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        found.extend((*token.start, token.string) for token in tokens if token.type == tokenize.COMMENT)
    return found


def take(found: Directives, text: str, line: int) -> None:
    """Enter one comment's directives, which commas separate."""
    for item in text.split(","):
        name, _, argument = re.sub(r"\s*=\s*|\s+", " ", item.strip()).partition(" ")
        if name == "expect":
            expect(found, argument, line)
        elif name == "rtol":
            found.rtol = tolerance(argument)
        elif name == "surrogate" and not argument:
            found.surrogates.add(line)
        else:
            raise SourceError(f"unknown directive {item.strip()!r}", None, hint=did_you_mean(name, NAMES) or FORMS, type=DIRECTIVE)


def expect(found: Directives, word: str, line: int) -> None:
    if word not in EXPECTATIONS:
        hint = did_you_mean(word, EXPECTATIONS) or "one of " + ", ".join(EXPECTATIONS)
        raise SourceError(f"unknown expectation {word!r}", None, hint=hint, type=DIRECTIVE)
    if found.expect not in (None, word):
        message = f"expect {word} contradicts expect {found.expect} in line {found.expect_line}"
        raise SourceError(message, None, hint="keep one of them", type=DIRECTIVE)
    found.expect, found.expect_line = word, line


def tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise SourceError(f"rtol must be a number that is not negative, not {text!r}", None, hint="write rtol=1e-6", type=DIRECTIVE)
    return value
