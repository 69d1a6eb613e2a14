"""What it takes to start: CPU time of whole processes, as ratios to bare imports of the same run.

    python tests/benchmarks/process.py

Goals: `gradcli --help` below 2.5 times `import typer`, `gradcli check` of ten lines below 1.6 times
`import numpy, sympy, typer, rich`. Medians over rounds in which every command takes its turn, since a busy
machine slows neighbours in time alike.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 11
TEN_LINES = """\
import torch
x = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
w = torch.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], requires_grad=True)
b = torch.tensor([0.1, -0.1], requires_grad=True)
h = torch.tanh(w @ x + b)
a = torch.sigmoid(h) * h
s = a.sum()
q = (x ** 2).mean()
loss = s + q
loss.backward()
"""


def cpu_seconds(command: list[str]) -> float:
    """User and system time of one process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(commands: dict[str, list[str]]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            times[name].append(cpu_seconds(command))
    return times


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ten_lines.grad"
        file.write_text(TEN_LINES)
        python = sys.executable
        times = measure(
            {
                "import typer": [python, "-c", "import typer"],
                "gradcli --help": [python, "-m", "gradcli", "--help"],
                "import numpy, sympy, typer, rich": [python, "-c", "import numpy, sympy, typer, rich"],
                "gradcli check ten_lines.grad": [python, "-m", "gradcli", "check", str(file)],
            }
        )
    for name, seconds in times.items():
        print(f"{name:34} {1000 * statistics.median(seconds):6.0f} ms (best {1000 * min(seconds):.0f})")
    for name, base in (("gradcli --help", "import typer"), ("gradcli check ten_lines.grad", "import numpy, sympy, typer, rich")):
        ratio = statistics.median(a / b for a, b in zip(times[name], times[base], strict=True))
        print(f"{name} / {base}: {ratio:.2f}")


if __name__ == "__main__":
    main()
