"""FPCore, the format of floating-point benchmarks, read into the same trees as the language's own files.

It is loaded when first asked for: few runs read any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradcli.syntax.fpcore.sampling import NoPoint
    from gradcli.syntax.fpcore.trees import BadCore, core_trees, whole_tree

__all__ = ["BadCore", "NoPoint", "core_trees", "whole_tree"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    from gradcli.syntax.fpcore import sampling, trees

    return getattr(sampling if name == "NoPoint" else trees, name)
