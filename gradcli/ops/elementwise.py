"""Operations that work element by element."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from gradcli.ops.operation import Operation, Value


def rank(value: Value) -> int:
    return int(np.ndim(value))


class Elementwise(Operation, abstract=True):
    """Works element by element with broadcasting; its rules give local derivatives `d_<argument>`.

    `domain` bounds the points at which the tests draw each argument: (low, high), or one pair an argument.
    """

    domain: ClassVar[Any] = (-2.0, 2.0)
    inplace: ClassVar[bool] = True
    gives_complex: ClassVar[bool] = False
    selects: ClassVar[tuple[str, ...]] = ()
    """Arguments that are masks; in all others a truth value is the number 0 or 1."""
    """Makes complex numbers of real ones."""

    def selecting(self, truths: Sequence[bool | None]) -> tuple[bool | None, ...]:
        """The truth values of the masks among the arguments, None for numbers; () where there is no mask."""
        return tuple(truth if name in self.selects else None for name, truth in zip(self.arguments, truths)) if self.selects else ()

    def symbolic(self, sympy: Any, *args: Any, **decision: Any) -> Any:
        """The result as a SymPy expression of SymPy symbols; with `decision` where the operation has switches."""
        raise NotImplementedError(f"{type(self).__name__} has no symbolic form")

    def parts(self, sympy: Any, *args: tuple[Any, Any]) -> tuple[Any, Any]:
        """Real and imaginary part (None: the result is real) of the result for complex arguments, each given as its real symbols
        (real part, imaginary part): for an operation that has no complex derivative."""
        raise NotImplementedError(f"{type(self).__name__} has no symbolic form for complex numbers")

    def size(self, *args: Value) -> int:
        """Broadcasting can multiply sizes."""
        shapes = [a.shape for a in args if type(a) is np.ndarray]
        if len(shapes) < 2 or shapes.count(shapes[0]) == len(shapes):
            return 0
        try:
            return math.prod(np.broadcast_shapes(*shapes))
        except ValueError:
            return 0

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        """Vectorised: a batched argument of lower rank gets axes of length 1 behind its leading axis."""
        ranks = [rank(a) - batched for a, batched in zip(args, lead)]
        full = max(ranks)
        aligned = [
            np.reshape(a, (len(a), *(1,) * (full - r), *np.shape(a)[1:])) if batched and r < full else a
            for a, r, batched in zip(args, ranks, lead)
        ]
        return self.replay(aligned, decision)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        count = len(cls.arguments)
        domains = [cls.domain] * count if np.isscalar(cls.domain[0]) else list(cls.domain)
        shapes: list[list[tuple[int, ...]]] = [[()] * count, [(2, 3)] * count]
        if count > 1:
            shapes.append([(2, 3), *[(3,)] * (count - 1)])
            shapes.append([(1, 3), *[(2, 1)] * (count - 1)])
        for op in cls.variants():
            for group in shapes:
                yield op, tuple(np.asarray(rng.uniform(low, high, shape))[()] for (low, high), shape in zip(domains, group))

    @classmethod
    def variants(cls) -> Iterable[Operation]:
        """Instances whose parameters the tests should try."""
        return [cls()]


class Predicate(Elementwise, abstract=True):
    """Gives truth values or integers: never differentiated."""

    differentiable = False


def rational(sympy: Any, value: float) -> Any:
    """A parameter as the exact number that the float is."""
    if isinstance(value, int):
        return sympy.Integer(int(value))
    if not np.isfinite(value):
        return sympy.sympify(value)
    return sympy.Rational(*float(value).as_integer_ratio())
