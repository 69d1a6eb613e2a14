"""Linear algebra that tells of a failure by a number instead of an error: the functions `linalg.*_ex`.

Where a matrix has no inverse or factor, the result is NaN everywhere, and `info` the order of the pivot that failed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.ops.axes import raw
from gradcli.ops.cholesky import cholesky, failing_minor
from gradcli.ops.lu import lu_factor
from gradcli.ops.matrices import need_square
from gradcli.ops.operation import Operation, Value
from gradcli.ops.returned import returned
from gradcli.ops.solve import inv, singular_at, solve

InvEx = returned("linalg_inv_ex", "inverse info")
CholeskyEx = returned("linalg_cholesky_ex", "L info")
SolveEx = returned("linalg_solve_ex", "result info")
LuFactorEx = returned("linalg_lu_factor_ex", "LU pivots info")


class Info(Operation):
    """0 for a matrix that the function takes, else the order of the pivot that fails. (..., n, n) -> (...), whole numbers."""

    name = "linalg_info"
    differentiable = False
    cholesky: bool = False

    def forward(self, x: Value) -> Value:
        info = np.zeros(x.shape[:-2], np.int32)
        try:
            np.linalg.cholesky(x) if self.cholesky else np.linalg.inv(x)
        except np.linalg.LinAlgError:
            number, order = (failing_minor if self.cholesky else singular_at)(x)
            info.reshape(-1)[number] = order
        return info[()]

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Any:
        yield cls(), (np.array([[1.0, 2.0], [2.0, 4.0]]),)
        yield cls(cholesky=True), (np.array([[1.0, 2.0], [2.0, 1.0]]),)


def attempted(function: Callable[[], Any], info: Any, like: Any, check_errors: bool) -> Any:
    """(result, info): what the function gives, or NaN everywhere."""
    failed = bool(np.any(raw(info)))
    return (like * np.nan if failed and not check_errors else function()), info


def inv_ex(x: Value, *, check_errors: bool = False) -> Any:
    """(inverse, info); NaN where there is none."""
    need_square("linalg.inv", x)
    return InvEx(*attempted(lambda: inv(x), Info()(x), x, check_errors))


def cholesky_ex(x: Value, *, upper: bool = False, check_errors: bool = False) -> Any:
    """(L, info); NaN where x is not positive definite."""
    need_square("linalg.cholesky", x)
    return CholeskyEx(*attempted(lambda: cholesky(x, upper=upper), Info(cholesky=True)(x), x, check_errors))


def solve_ex(x: Value, B: Value, *, left: bool = True, check_errors: bool = False) -> Any:
    """(result, info); NaN where x is singular."""
    need_square("linalg.solve", x)
    return SolveEx(*attempted(lambda: solve(x, B, left=left), Info()(x), B, check_errors))


def lu_factor_ex(x: Value, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """(LU, pivots, info); a zero on the diagonal is no error."""
    packed, pivots = lu_factor(x, pivot=pivot)
    return LuFactorEx(packed, pivots, Info()(x) * 0)


SPELLINGS = {
    "linalg.inv_ex": inv_ex, "linalg.cholesky_ex": cholesky_ex, "linalg.solve_ex": solve_ex, "linalg.lu_factor_ex": lu_factor_ex,
}  # fmt: skip
