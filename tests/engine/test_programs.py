"""Programs whose `.out` is what PyTorch 2.13 printed for them, under float64."""

import re
from pathlib import Path

import pytest

from gradcli.engine.printing import Options, Printing
from gradcli.interpreter.limits import Limits
from gradcli.interpreter.program import Program
from gradcli.syntax.parser import parse
from gradcli.syntax.source import Source

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.grad"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_it_prints_what_pytorch_prints(path: Path) -> None:
    Printing.options = Options()
    run = Program(parse(Source(path.name, path.read_text())), Limits()).run()
    Printing.options = Options()
    assert run.error is None, f"{run.error} at {run.error.span}"
    assert re.sub(r"0x[0-9a-f]+", "0x", run.output) == path.with_suffix(".out").read_text()
