"""Text -> checked tree: places, comments that steer, the constructs of the language."""

from gradcli.errors import Span
from gradcli.syntax.directives import Directives
from gradcli.syntax.parser import parse, parse_expression
from gradcli.syntax.source import Source
from gradcli.syntax.tree import Tree

__all__ = ["Directives", "Source", "Span", "Tree", "parse", "parse_expression"]
