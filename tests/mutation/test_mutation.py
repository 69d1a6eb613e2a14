"""A sample of the mutation run: of a few operations every tenth wrong rule; `run.py` beside this file runs them all."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from gradcli.ops.arithmetic import Mul


def load(name: str) -> Any:
    """A module beside this file."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    found = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def mutation() -> Any:
    """The script, with the modules that it imports from its own folder."""
    load("mutants")
    load("catch")
    return load("run")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["Sin", "Mul", "Sum", "Softmax", "Mm", "Atan2", "Relu"])
def test_wrong_rules_are_caught(mutation: Any, name: str) -> None:
    count = mutation.run([name], every=10)
    assert count.total
    assert count.survived == []


def test_there_are_enough_of_them(mutation: Any) -> None:
    names = [mutant.name for mutant in sys.modules["mutants"].mutants(["Mul", "Pow", "Softmax", "Mm", "LinalgVectorNorm"])]
    assert len(names) >= 150
    assert any("transposed" in name for name in names)
    assert any("left alone" in name for name in names)


def test_the_right_rule_is_put_back(mutation: Any) -> None:
    before = Mul.rules, Mul.plans
    mutant = next(sys.modules["mutants"].mutants(["Mul"]))
    with sys.modules["mutants"].applied(mutant):
        assert Mul.rules != before[0]
    assert (Mul.rules, Mul.plans) == before


def test_what_is_called_equivalent_has_a_proof(mutation: Any) -> None:
    assert all(len(proof) > 20 for proof in mutation.equivalent().values())
