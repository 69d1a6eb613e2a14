"""Inverses and systems of linear equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops import elimination
from gradcli.ops.factored import Factored
from gradcli.ops.matmul import Examples, adjoint, broadcast_lead, matmul, same_dtype, transposed
from gradcli.ops.matrices import LinAlgError, column, fitted, lifted, lower, need_matrix, need_square, place, upper
from gradcli.ops.operation import Operation, Value
from gradcli.ops.shape import flatten, reshape
from gradcli.ops.transposition import movedim


def singular_at(x: Value) -> tuple[int, int]:
    """The number of the first singular matrix of a batch, and the place of its first zero pivot (from 1)."""
    for number, index in enumerate(np.ndindex(*x.shape[:-2])):
        lu, _ = elimination.factor(x[index])
        zero = np.flatnonzero(np.diagonal(lu) == 0)
        if zero.size:
            return number, int(zero[0]) + 1
    return 0, x.shape[-1]


class Inverse(Operation):
    """The inverse: x @ out = 1. (..., n, n) -> (..., n, n). Gradient: -out.T @ g @ out.T. LinAlgError for a singular matrix."""

    refused = "biu"
    kernel_name = "linalg.inv"

    saves = "inverse=out"
    multiplications = 2
    name = "linalg.inv"
    node = "LinalgInvExBackward0"

    def forward(self, x: Value) -> Value:
        need_square("linalg.inv", x)
        try:
            return np.linalg.inv(x)
        except np.linalg.LinAlgError:
            number, pivot = singular_at(x)
            raise LinAlgError(
                f"linalg.inv{place(x, number)}: The diagonal element {pivot} is zero, "
                "the inversion could not be completed because the input matrix is singular."
            ) from None

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def exact(self, *args: Value, decision: Any = None) -> Value:
        return elimination.each(elimination.inverse, args, (2,))

    def vjp_x(self, g: Value, out: Value) -> Value:
        return -matmul(adjoint(out), matmul(g, adjoint(out)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape in ((2, 2), (3, 3), (2, 2, 2)):
            yield cls(), (rng.normal(size=shape) + 3 * np.eye(shape[-1]),)


class LinalgSolveEx(Factored):
    """out with x @ out = y (`left`), or out @ x = y. (..., n, n), (..., n, k) -> (..., n, k); `vector`: y is (..., n).

    Gradients: for y, x.T \\ g; for x, minus that times out.T. LinAlgError for a singular matrix.
    """

    refused = "biu"
    kernel_name = "linalg.solve"

    saves = "A=x LU left pivots result=out"
    multiplications = 1
    name = "linalg.solve"
    left: bool = True
    vector: bool = False
    keeps_all = True

    def forward(self, x: Value, y: Value) -> Value:
        return self.shaped(self.solved, x, y)

    def solved(self, x: Value, y: Value) -> Value:
        try:
            return np.linalg.solve(x, y)
        except np.linalg.LinAlgError:
            number, _ = singular_at(x)
            raise LinAlgError(f"torch.linalg.solve{place(x, number)}: The solver failed because the input matrix is singular.") from None

    def shaped(self, solve: Any, x: Value, y: Value) -> Value:
        """Any side and any right-hand side, through one for matrices on the left."""
        if self.vector:
            return solve(x, y[..., None])[..., 0]
        if self.left:
            return solve(x, y)
        return np.swapaxes(solve(np.swapaxes(x, -1, -2), np.swapaxes(y, -1, -2)), -1, -2)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(*lifted(args, lead, (2, 1 if self.vector else 2)))

    def exact(self, *args: Value, decision: Any = None) -> Value:
        return self.shaped(lambda a, b: elimination.each(elimination.solve, (a, b), (2, 2)), *args)

    def back(self, g: Value, x: Value) -> Value:
        return LinalgSolveEx(left=self.left, vector=self.vector)(adjoint(x), g)

    def vjp_x(self, g: Value, x: Value, out: Value, x_shape: tuple[int, ...]) -> Value:
        back = self.back(g, x)
        if self.vector:
            part = matmul(column(back), adjoint(column(out)))
        else:
            part = matmul(back, adjoint(out)) if self.left else matmul(adjoint(out), back)
        return fitted(-part, x_shape)

    def vjp_y(self, g: Value, x: Value, y_shape: tuple[int, ...]) -> Value:
        return fitted(self.back(g, x), y_shape)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        a = rng.normal(size=(3, 3)) + 3 * np.eye(3)
        yield cls(), (a, rng.normal(size=(3, 2)))
        yield cls(vector=True), (a, rng.normal(size=(3,)))
        yield cls(left=False), (a, rng.normal(size=(2, 3)))
        yield cls(), (a + np.zeros((2, 1, 1)), rng.normal(size=(3, 2)))
        yield cls(vector=True), (a + np.zeros((2, 1, 1)), rng.normal(size=(2, 3)))


class LinalgSolveTriangular(Operation):
    """out with x @ out = y (`left`), or out @ x = y, for x triangular; the other triangle is not read.

    (..., n, n), (..., n, k) -> (..., n, k). `unitriangular` takes the diagonal as ones. A zero on the diagonal gives inf.
    """

    refused = "biu"
    kernel_name = "triangular_solve_cpu"

    saves = "left result=out self=x unitriangular upper"
    multiplications = 1
    name = "linalg.solve_triangular"
    upper: bool
    left: bool = True
    unitriangular: bool = False
    keeps_all = True

    def forward(self, x: Value, y: Value) -> Value:
        if not self.left:
            turned = LinalgSolveTriangular(upper=not self.upper, unitriangular=self.unitriangular)
            return np.swapaxes(turned.forward(np.swapaxes(x, -1, -2), np.swapaxes(y, -1, -2)), -1, -2)
        n = x.shape[-1]
        lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        out = np.array(np.broadcast_to(y, (*lead, *y.shape[-2:])), dtype=np.result_type(x, y))
        for i in range(n - 1, -1, -1) if self.upper else range(n):
            known = slice(i + 1, n) if self.upper else slice(0, i)
            if known.start < known.stop:
                out[..., i, :] = out[..., i, :] - np.matmul(x[..., i : i + 1, known], out[..., known, :])[..., 0, :]
            if not self.unitriangular:
                out[..., i, :] = out[..., i, :] / x[..., i, i][..., None] if x.ndim > 2 else out[..., i, :] / x[i, i]
        return out

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(*lifted(args, lead, (2, 2)))

    def back(self, g: Value, x: Value) -> Value:
        op = LinalgSolveTriangular(upper=not self.upper, left=self.left, unitriangular=self.unitriangular)
        return op(adjoint(x), g)

    def vjp_x(self, g: Value, x: Value, out: Value, x_shape: tuple[int, ...]) -> Value:
        back = self.back(g, x)
        part = matmul(back, adjoint(out)) if self.left else matmul(adjoint(out), back)
        triangle = upper if self.upper else lower
        return fitted(-triangle(part, self.unitriangular), x_shape)

    def vjp_y(self, g: Value, x: Value, y_shape: tuple[int, ...]) -> Value:
        return fitted(self.back(g, x), y_shape)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        a = rng.normal(size=(3, 3)) + 3 * np.eye(3)
        for high in (True, False):
            yield cls(upper=high), (a, rng.normal(size=(3, 2)))
            yield cls(upper=high, left=False, unitriangular=True), (a, rng.normal(size=(2, 3)))
        yield cls(upper=True), (a + np.zeros((2, 1, 1)), rng.normal(size=(3, 2)))


inv: Operation = Inverse()


def inverse(x: Value) -> Any:
    """The inverse of a square matrix, or of each of a batch."""
    return inv(x)


def solve(x: Value, B: Value, *, left: bool = True) -> Any:
    """X with x @ X = B, or X @ x = B for left=False. B may be a vector or, for a batch of matrices, a batch of vectors."""
    need_square("linalg.solve", x)
    same_dtype(x, B)
    vector = B.ndim == 1 or (x.ndim - 1 == B.ndim and B.shape == x.shape[:-1])
    rows = B.shape[-1] if vector or not left else B.shape[-2]
    if rows != x.shape[-1] or (vector and not left):
        raise ShapeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({x.shape[-2]}x{x.shape[-1]} and {'x'.join(map(str, B.shape[-2:]))})"
        )
    broadcast_lead(x.shape[:-2], B.shape[:-1] if vector else B.shape[:-2])
    return LinalgSolveEx(left=left, vector=vector)(x, B)


def solve_triangular(x: Value, B: Value, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    """X with x @ X = B, or X @ x = B for left=False, reading one triangle of x."""
    need_square("linalg.solve_triangular", x)
    need_matrix("linalg.solve_triangular", B)
    if B.shape[-2 if left else -1] != x.shape[-1]:
        raise ShapeError(
            f"linalg.solve_triangular: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({x.shape[-2]}x{x.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})"
        )
    broadcast_lead(x.shape[:-2], B.shape[:-2])
    return LinalgSolveTriangular(upper=upper, left=left, unitriangular=unitriangular)(x, B)


def triangular_solve(x: Value, A: Value, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> tuple[Any, Any]:
    """The solution of A @ X = x for a triangular A, and A itself: the older spelling of linalg.solve_triangular."""
    matrix, high = (transposed(A), not upper) if transpose else (A, upper)
    return solve_triangular(matrix, x, upper=high, unitriangular=unitriangular), A


def tensorsolve(x: Value, B: Value, dims: Any = None) -> Any:
    """X with tensordot(x, X, X.ndim) = B; `dims` are moved to the end of x first."""
    if dims is not None:
        x = movedim(x, list(dims), list(range(x.ndim - len(dims), x.ndim)))
    shape = x.shape[B.ndim :]
    count = int(np.prod(B.shape))
    if int(np.prod(shape)) != count:
        raise ShapeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {int(np.prod(shape))} != {count}"
        )
    return reshape(solve(reshape(x, (count, count)), flatten(B)), shape)


def tensorinv(x: Value, ind: int = 2) -> Any:
    """The inverse of x as a map from its last axes to its first `ind`."""
    if ind <= 0:
        raise ShapeError("Expected a strictly positive integer for 'ind'")
    front, rear = x.shape[:ind], x.shape[ind:]
    if int(np.prod(front)) != int(np.prod(rear)):
        raise ShapeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), "
            f"but got {int(np.prod(rear))} != {int(np.prod(front))}"
        )
    return reshape(inv(reshape(x, (int(np.prod(front)), -1))), (*rear, *front))


OPERATIONS = (Inverse, LinalgSolveEx, LinalgSolveTriangular)
FUNCTIONS = (inverse, triangular_solve)
SPELLINGS = {
    "linalg.inv": inverse, "linalg.solve": solve, "linalg.solve_triangular": solve_triangular,
    "linalg.tensorsolve": tensorsolve, "linalg.tensorinv": tensorinv,
}  # fmt: skip
