"""The house: a module imports only from its own folder and from folders above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gradcli

PACKAGE = Path(gradcli.__file__).parent
FLOORS = (
    "errors", "syntax", "ops", "engine", "interpreter", "references", "check", "graph", "report", "discovery", "config", "batch", "api",
    "commands", "cli",
)  # fmt: skip
"""From the bottom up: data flows one way."""

HEAVY = {"sympy", "rich", "typer"}
"""Third-party packages that may be imported inside functions, because most runs do without them."""


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem in ("errors", "cli"))


def floor(name: str) -> int | None:
    """The floor of a dotted module name inside the package; None for other packages and for the package itself."""
    parts = name.split(".")
    return FLOORS.index(parts[1]) if parts[0] == "gradcli" and len(parts) > 1 and parts[1] in FLOORS else None


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every module that a tree imports, with the line, type-checking blocks apart."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
        else:
            yield from imports(node)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_own_floor_and_from_those_below(path: Path) -> None:
    own = FLOORS.index(path.relative_to(PACKAGE).parts[0].removesuffix(".py"))
    upward = [f"line {line}: {name}" for name, line in imports(ast.parse(path.read_text("utf-8"))) if (floor(name) or 0) > own]
    assert not upward, f"{path.relative_to(PACKAGE)} imports from above: {upward}"


def test_there_is_a_room_for_every_module() -> None:
    rooms = {path.name.removesuffix(".py") for path in PACKAGE.iterdir() if not path.name.startswith("_")}
    assert rooms - {"py.typed"} <= {*FLOORS, "testing", "pytest_plugin"}
