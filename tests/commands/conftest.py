"""Files to check, one for each thing that can become of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAMS = {
    "good.grad": "x = tensor([1.0, 2.0], requires_grad=True)\nout = (x**2).sum()\n",
    "wrong.grad": """\
class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x

x = tensor([1.0, 2.0], requires_grad=True)
out = Square.apply(x).sum()
""",
    "kink.grad": "x = tensor([-1.0, 0.0], requires_grad=True)\nout = relu(x).sum()\n",
    "syntax.grad": "x = tensor(1.0, requires_grad=True\nout = x\n",
    "foreign.grad": "import os\nglobal x\nx = tensor(1.0, requires_grad=True)\n",
    "shape.grad": "a = ones(2, 3, requires_grad=True)\nout = a @ a\n",
    "name.grad": "x = tensor(1.0, requires_grad=True)\nout = sni(x)\n",
    "nothing.grad": "x = tensor(1.0)\ny = x * 2\n",
    "empty.grad": "",
    "false.grad": "x = tensor(1.0, requires_grad=True)\nout = x * 2\nassert out > 3, 'too small'\n",
    "endless.grad": "while True:\n    pass\n",
    "printing.grad": "x = tensor([1.0, 2.0], requires_grad=True)\nprint('sum', x.sum().item())\nout = (x * 3).sum()\n",
    "three.grad": "x = tensor(2.0, requires_grad=True)\ny = tensor([1.0, 3.0], requires_grad=True)\nz = x**3 * y\n",
}


@pytest.fixture
def programs(tmp_path: Path) -> Callable[..., list[str]]:
    """`programs("good", "wrong")` writes these files and gives their names; "bytes" is one that is no text."""

    def write(*names: str) -> list[str]:
        for name in names:
            if name == "bytes":
                (tmp_path / "bytes.grad").write_bytes(b"x = \xff\xfe\n")
            else:
                (tmp_path / f"{name}.grad").write_text(PROGRAMS[f"{name}.grad"], encoding="utf-8")
        return [f"{name}.grad" for name in names]

    return write
