"""What `gradcli explain` tells: a page for each code and each topic, one Markdown file each in `explanations/`.

A page begins with `# CODE: title` or `# topic: title`. The sections `Example` and `What to do` have a place of their
own in the JSON form; the text before the first section is the meaning.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from gradcli.errors import UsageError
from gradcli.report.codes import CODES
from gradcli.report.text import folded
from gradcli.syntax.spelling import did_you_mean

WIDTH = 80
"""Lines are no longer, however wide the reader's end is."""
CODE = re.compile(r"G\d{3}")
EXAMPLE, REMEDY = "Example", "What to do"
ITEM = re.compile(r"- |\d+\. ")


@dataclass(frozen=True)
class Explanation:
    """One page; `sections` by their titles, in their order, and `meaning` what stands before them."""

    name: str
    title: str
    meaning: str
    sections: dict[str, str]

    @property
    def example(self) -> str | None:
        return self.sections.get(EXAMPLE)

    @property
    def remedy(self) -> str | None:
        return self.sections.get(REMEDY)

    @property
    def markdown(self) -> str:
        parts = [f"# {self.name}: {self.title}", self.meaning]
        parts += [f"## {title}\n\n{body}" for title, body in self.sections.items()]
        return "\n\n".join(parts) + "\n"


def names() -> list[str]:
    """Every page: the codes in order, then the topics."""
    found = [entry.name.removesuffix(".md") for entry in files("gradcli.report").joinpath("explanations").iterdir()]
    return sorted(found, key=lambda name: (not CODE.fullmatch(name), name))


def explanation(name: str) -> Explanation:
    """The page of a code, a verdict or a topic, however it is written. Raises UsageError where there is none."""
    known = {page.lower(): page for page in names()} | CODES
    page = known.get(name.strip().strip("[]").lower())
    if page is None:
        topics = [page for page in names() if not CODE.fullmatch(page)]
        hint = did_you_mean(name, [*names(), *CODES]) or f"a code that a report shows, such as G001, or one of: {', '.join(topics)}"
        raise UsageError(f"nothing is known of {name!r}", hint=hint, code="G102")
    return _read(files("gradcli.report").joinpath("explanations", f"{page}.md").read_text(encoding="utf-8"))


def _read(text: str) -> Explanation:
    head, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    first, _, meaning = head.partition("\n")
    name, _, title = first.removeprefix("# ").partition(": ")
    bodies = (section.partition("\n") for section in sections)
    return Explanation(name, title, meaning.strip(), {title.strip(): body.strip() for title, _, body in bodies})


def text(page: Explanation, width: int = WIDTH) -> str:
    """For a terminal."""
    width = min(width, WIDTH)
    lines = [*textwrap.wrap(f"{page.name}: {page.title}", width), "", *_body(page.meaning, width)]
    for title, body in page.sections.items():
        lines += ["", title, "-" * len(title), "", *_body(body, width)]
    return "\n".join(lines) + "\n"


def _body(markdown: str, width: int) -> Iterator[str]:
    """Paragraphs and items wrapped, blocks of code indented as they are."""
    for number, block in enumerate(_blocks(markdown)):
        if number:
            yield ""
        if block[0].startswith("```"):
            yield from ([f"{block[0].split()[1]}:", ""] if " " in block[0] else [])
            yield from (f"    {line}".rstrip() for line in block[1:-1])
        else:
            yield from (line for part in _items(block) for line in _wrapped(part, width))


def _blocks(markdown: str) -> Iterator[list[str]]:
    """Runs of lines between blank ones; a fenced block is one, blank lines included."""
    block: list[str] = []
    fenced = False
    for line in markdown.split("\n"):
        if line.startswith("```"):
            if not fenced and block:
                yield block
                block = []
            fenced = not fenced
        if line or fenced:
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _items(block: list[str]) -> Iterator[str]:
    """The items of a list, or the whole block as one paragraph."""
    part = ""
    for line in block:
        if ITEM.match(line) and part:
            yield part
            part = line
        else:
            part = f"{part} {line.strip()}" if part else line
    yield part


def _wrapped(part: str, width: int) -> list[str]:
    match = ITEM.match(part)
    return textwrap.wrap(_unmarked(part), width, subsequent_indent=" " * len(match[0]) if match else "", break_long_words=False)


def _unmarked(text: str) -> str:
    """Without the marks for code and emphasis."""
    return re.sub(r"\*\*(.+?)\*\*", r"\1", text).replace("`", "")


def json_object(page: Explanation) -> dict[str, Any]:
    return {
        "schema": "gradcli.explanation/1",
        "name": page.name,
        "title": page.title,
        "meaning": page.meaning,
        "example": page.example,
        "remedy": page.remedy,
        "sections": page.sections,
    }


def json_text(page: Explanation, width: int = WIDTH) -> str:
    return json.dumps(json_object(page), ensure_ascii=False) + "\n"


FORMATS: dict[str, Callable[[Explanation, int], str]] = {"text": text, "json": json_text, "markdown": lambda page, width: page.markdown}


def contents(width: int = WIDTH) -> str:
    """The list of pages, a line each where there is room."""
    lines = (line for name in names() for line in folded(f"{name:10} {explanation(name).title}", width, 11))
    return "\n".join(lines) + "\n"
