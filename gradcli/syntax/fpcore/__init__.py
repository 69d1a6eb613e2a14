"""FPCore, the format of floating-point benchmarks, read into the same trees as the language's own files."""

from gradcli.syntax.fpcore.sampling import NoPoint
from gradcli.syntax.fpcore.trees import SUFFIX, BadCore, core_trees, whole_tree

__all__ = ["SUFFIX", "BadCore", "NoPoint", "core_trees", "whole_tree"]
