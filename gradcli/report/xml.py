"""Text that every XML reader takes: characters that XML 1.0 does not have are spelled out, not dropped."""

from __future__ import annotations

import re

from gradcli.report.text import printable

OUTSIDE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def plain(value: str) -> str:
    """Control characters, invisible ones and lone surrogates as escapes."""
    return OUTSIDE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), printable(value))


def text(value: str) -> str:
    """For the body of an element."""
    return plain(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def attribute(value: str) -> str:
    """For between double quotes; line ends and tabs would be read as blanks."""
    return text(value).replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")


def tag(name: str, attributes: dict[str, str], *children: str) -> str:
    """An element with its children, which are XML already."""
    head = name + "".join(f' {key}="{attribute(value)}"' for key, value in attributes.items())
    inside = "".join(children)
    return f"<{head}>{inside}</{name}>" if inside else f"<{head}/>"
