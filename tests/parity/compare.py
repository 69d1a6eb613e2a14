"""Running a program under PyTorch and under gradcli, and comparing what they print."""

from __future__ import annotations

import contextlib
import io
import math
import re
import warnings

NUMBER = re.compile(r"-?(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+|inf|nan)")


def torch_output(source: str) -> str:
    """What PyTorch prints; an uncaught error is its last line."""
    import torch

    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(True)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(source, "program", "exec"), {})
        except Exception as error:
            printed.write(f"uncaught {next(c.__name__ for c in type(error).__mro__ if c.__module__ == 'builtins')}\n")
    return printed.getvalue()


def gradcli_output(source: str, *, trace: bool = False) -> str:
    """What gradcli prints; an uncaught error is its last line."""
    from gradcli.interpreter.limits import Limits
    from gradcli.interpreter.program import Program
    from gradcli.syntax.parser import parse
    from gradcli.syntax.source import Source

    run = Program(parse(Source("program", source)), Limits()).run(trace=trace)
    return run.output + (f"uncaught {run.error.type}\n" if run.error is not None else "")


def difference(ours: str, theirs: str) -> str | None:
    """The first line that differs, or None: texts must be equal, numbers agree to ten digits."""
    a, b = ours.splitlines(), theirs.splitlines()
    for k in range(max(len(a), len(b))):
        left, right = (a[k] if k < len(a) else "<nothing>"), (b[k] if k < len(b) else "<nothing>")
        if not same(left, right):
            return f"line {k + 1}: {left!r} where PyTorch prints {right!r}"
    return None


def same(left: str, right: str) -> bool:
    if NUMBER.sub("#", left) != NUMBER.sub("#", right):
        return False
    return all(close(float(x), float(y)) for x, y in zip(NUMBER.findall(left), NUMBER.findall(right), strict=True))


def close(x: float, y: float) -> bool:
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return x == y or abs(x - y) <= 1e-10 * max(1.0, abs(y))
