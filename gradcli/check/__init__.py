"""The check: a program's gradients against independent references.

What checks needs the engine; it is loaded when first asked for, so that commands can read options and results without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcli.check.options import CheckOptions

if TYPE_CHECKING:
    from gradcli.check.file import check_file

__all__ = ["CheckOptions", "check_file"]


def __getattr__(name: str) -> Any:
    if name != "check_file":
        raise AttributeError(name)
    from gradcli.check.file import check_file

    return check_file
