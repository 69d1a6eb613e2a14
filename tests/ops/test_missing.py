"""Every operation that files use or that PyTorch lists is there, or is listed as missing with the reason; nothing there is listed."""

from pathlib import Path

import numpy as np
import pytest

from gradcli.engine.tensor import Tensor
from gradcli.interpreter import run_file
from gradcli.interpreter.attributes import MISSING as ABSENT
from gradcli.interpreter.attributes import add_tables, look_up
from gradcli.interpreter.limits import Limits
from gradcli.interpreter.meter import Meter
from gradcli.interpreter.tensor_table import ENGINE_TABLES
from gradcli.interpreter.vocabulary import build_vocabulary
from gradcli.ops.missing import FORMS, MISSING
from gradcli.syntax import Source

LISTED = [line for line in (Path(__file__).parent / "listed.txt").read_text().splitlines() if not line.startswith("#")]
WORDS = build_vocabulary(Meter(Limits()), lambda *values: None, "f.grad", None)


def is_there(name: str) -> bool:
    """Whether a program can reach an operation: bare, in the module that has it in PyTorch, or as a method."""
    module, _, last = name.rpartition(".")
    modules = [f"torch.{module}"] if module else ["torch", "torch.nn.functional", "torch.linalg", "torch.special"]
    if name in WORDS.names or any(m in WORDS.modules and last in WORDS.modules[m].members for m in modules):
        return True
    add_tables(ENGINE_TABLES)
    return not module and look_up(Tensor(np.ones((2, 2))), name) is not ABSENT


def test_what_is_listed_is_there_or_has_a_reason():
    assert [name for name in dict.fromkeys(LISTED) if not is_there(name) and name not in MISSING] == []


def test_what_is_there_is_not_called_missing():
    assert [name for name in MISSING if is_there(name)] == []


def test_nothing_is_called_missing_that_nobody_lists():
    assert set(MISSING) <= set(LISTED)


@pytest.mark.parametrize("call", FORMS)
def test_arguments_that_are_not_taken(call):
    error = run_file(Source("f.grad", f"import torch\nx = ones(2, requires_grad=True)\ny = {call}")).error
    assert error.type == "NotImplementedError"
