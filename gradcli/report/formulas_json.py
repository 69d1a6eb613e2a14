"""`derive --format json`: every derivative as a formula that SymPy reads back, with its number at the point and autograd's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.references.formula_text import Entry, agrees
from gradcli.report import encode

SCHEMA = "gradcli.derive/1"


def document(path: str, output: str, weights: Any, order: int, formula: Any, found: Sequence[Entry], branches: Sequence[str]) -> str:
    """`formula` is that of a scalar output; `branches` says where the formulas hold only on the branch of the point."""
    data = {
        "schema": SCHEMA,
        "path": path,
        "output": output,
        "grad_outputs": encode.array(weights),
        "order": order,
        "formula": None if formula is None else str(formula),
        "derivatives": [
            {
                "output": entry.output,
                "wrt": list(entry.variables),
                "formula": str(entry.expr),
                "value": encode.number(entry.value),
                "autograd": encode.number(entry.autograd),
                "agrees": agrees(entry),
            }
            for entry in found
        ],
        "branches": list(branches),
    }
    return encode.document(data) + "\n"
