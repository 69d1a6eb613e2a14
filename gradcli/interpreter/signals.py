"""How a statement says that it did not simply end."""

from __future__ import annotations

import ast


class Signal:
    """break, continue or return, given back by a statement instead of None."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


BREAK, CONTINUE, RETURN = Signal("break"), Signal("continue"), Signal("return")


def leaves(nodes: list[ast.stmt]) -> bool:
    """Whether a block holds a break, continue or return that concerns the block itself."""
    pending: list[ast.AST] = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Break, ast.Continue, ast.Return)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.expr)):
            pending.extend(ast.iter_child_nodes(node))
    return False
