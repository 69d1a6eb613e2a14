"""`math`: on numbers Python's own functions, on tensors the operation of the same name."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from gradcli.engine.tensor import Tensor
from gradcli.interpreter.meter import Meter

SAME_NAME = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1",
    "fabs", "floor", "fmod", "hypot", "isfinite", "isinf", "isnan", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "pow", "remainder",
    "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
TENSOR_NAMES = {"fabs": "abs"}
NUMBERS_ONLY = (
    "cbrt", "degrees", "dist", "fsum", "gamma", "gcd", "isclose", "lcm", "modf", "frexp", "nextafter", "prod", "radians", "sumprod", "ulp",
)  # fmt: skip
SPELLINGS = {"degrees": "rad2deg", "radians": "deg2rad"}
CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "tau": math.tau}


def math_members(meter: Meter, operations: dict[str, Callable[..., Any]]) -> dict[str, Any]:
    """The members of `math`."""
    members: dict[str, Any] = dict(CONSTANTS)
    for name in (*SAME_NAME, *NUMBERS_ONLY):
        function = getattr(math, name, None)
        if function is not None:
            members[name] = either(name, function, operations.get(TENSOR_NAMES.get(name) or SPELLINGS.get(name, name)))
    members["factorial"] = partial(factorial, meter)
    members["comb"] = partial(combinations, meter)
    members["perm"] = partial(permutations, meter)
    members["isqrt"] = math.isqrt
    for name in ("fsum", "prod", "gcd", "lcm"):
        members[name] = consuming(meter, getattr(math, name))
    return members


def either(name: str, number: Callable[..., Any], operation: Callable[..., Any] | None) -> Callable[..., Any]:
    """A function of numbers that hands tensors to the operation."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(arg, Tensor) for arg in args):
            if operation is None:
                return number(*[float(arg) if isinstance(arg, Tensor) else arg for arg in args], **kwargs)
            return operation(*args, **kwargs)
        return number(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    return function


def factorial(meter: Meter, n: Any) -> int:
    if isinstance(n, int) and n > 0:
        refuse_product(meter, n, n)
    return meter.integer(math.factorial(n))


def combinations(meter: Meter, n: Any, k: Any) -> int:
    if isinstance(n, int) and isinstance(k, int) and 0 <= k <= n:
        refuse_product(meter, n, min(k, n - k))
    return meter.integer(math.comb(n, k))


def permutations(meter: Meter, n: Any, k: Any = None) -> int:
    if isinstance(n, int) and n > 0:
        refuse_product(meter, n, min(k, n) if isinstance(k, int) else n)
    return meter.integer(math.perm(n, k))


def refuse_product(meter: Meter, n: int, factors: int) -> None:
    """A product of so many factors up to n would be too long an integer."""
    if factors * n.bit_length() > 2 * meter.limits.integer_bits:
        raise meter.reached("integer_bits")


def consuming(meter: Meter, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of an iterable, or of many numbers."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return meter.grown(function(*[arg if isinstance(arg, (int, float)) else meter.consume(arg) for arg in args], **kwargs))

    return call
