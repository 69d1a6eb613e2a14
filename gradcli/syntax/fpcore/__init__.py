"""FPCore, the format of floating-point benchmarks, read into the same trees as the language's own files."""

from gradcli.syntax.fpcore.sampling import NoPoint
from gradcli.syntax.fpcore.trees import BadCore, core_trees, whole_tree

__all__ = ["BadCore", "NoPoint", "core_trees", "whole_tree"]
