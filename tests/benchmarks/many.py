"""A thousand small files: what `-j 2` and the cache are worth, by the clock on the wall and in CPU seconds of all processes.

    python tests/benchmarks/many.py [FILES [ROUNDS]]

Goals: `-j 2` below 0.6 times `-j 1` (on a machine with two idle processors), and SymPy imported once a worker at
most. The ways take turns, since a busy machine slows neighbours in time alike; shown are the best round of each and
the median ratio. On a machine that is busy otherwise, half the CPU seconds of `-j 2` say what two idle processors would take.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """\
import torch
x = torch.tensor([0.{seed}, -1.0, 2.0], requires_grad=True)
w = torch.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], requires_grad=True)
b = torch.tensor([0.1, -0.1], requires_grad=True)
h = torch.tanh(w @ x + b)
a = torch.sigmoid(h) * h
s = a.sum()
q = (x ** 2).mean()
loss = s + q
loss.backward()
"""


def seconds(folder: Path, *options: str) -> tuple[float, float]:
    """By the clock on the wall, and of all processors."""
    command = [sys.executable, "-m", "gradcli", "check", "files", "--quiet", *options]
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(files: int = 1000, rounds: int = 3) -> None:
    ways: dict[str, tuple[str, ...]] = {"-j 1": (), "-j 2": ("-j", "2"), "--cache, nothing changed": ("--cache",)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "files").mkdir()
        for seed in range(files):
            (folder / "files" / f"{seed:04}.grad").write_text(PROGRAM.format(seed=f"{seed:04}"))
        seconds(folder, "--cache")
        times = [{way: seconds(folder, *options) for way, options in ways.items()} for _ in range(rounds)]
    for way in ways:
        wall, cpu = (min(row[way][k] for row in times) for k in (0, 1))
        ratio, share = (statistics.median(row[way][k] / row["-j 1"][k] for row in times) for k in (0, 1))
        print(f"{files} files, {way:26} {wall:6.2f} s ({ratio:.2f} of -j 1), CPU {cpu:6.2f} s ({share:.2f} of -j 1)")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
