"""The words of FPCore 2.0, and its numbers."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from gradcli.syntax.fpcore.reader import Atom, Expression, Form, wrong

CONSTANTS: dict[str, float] = {
    "E": math.e, "LOG2E": 1 / math.log(2), "LOG10E": 1 / math.log(10), "LN2": math.log(2), "LN10": math.log(10), "PI": math.pi,
    "PI_2": math.pi / 2, "PI_4": math.pi / 4, "M_1_PI": 1 / math.pi, "M_2_PI": 2 / math.pi, "M_2_SQRTPI": 2 / math.sqrt(math.pi),
    "SQRT2": math.sqrt(2), "SQRT1_2": math.sqrt(0.5), "INFINITY": math.inf, "NAN": math.nan,
}  # fmt: skip
TRUTHS = {"TRUE": True, "FALSE": False}

COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
UNARY_WORDS = (
    "fabs exp exp2 expm1 log log10 log2 log1p sqrt cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
    "tgamma lgamma ceil floor trunc round nearbyint"
)
BINARY = ("pow", "hypot", "atan2", "fmod", "remainder", "fmax", "fmin", "fdim", "copysign")
TESTS = ("isfinite", "isinf", "isnan", "isnormal", "signbit")
ARITY = {**dict.fromkeys(UNARY_WORDS.split(), 1), **dict.fromkeys(BINARY, 2), **dict.fromkeys(TESTS, 1), "fma": 3, "not": 1}
"""Operations with a fixed number of arguments."""
VARIADIC = ("+", "-", "*", "/", *COMPARISONS, "and", "or")
BLOCKS = ("if", "let", "let*", "while", "while*", "for", "for*", "cast", "!", "digits")
TENSORS = ("tensor", "tensor*", "array", "ref", "dim", "size")
"""What 2.0 has for arrays."""
WORDS = (*ARITY, *VARIADIC, *BLOCKS)

RATIONAL = re.compile(r"[+-]?[0-9]+/[0-9]*[1-9][0-9]*")
DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
HEXADECIMAL = re.compile(r"[+-]?0[xX]([0-9a-fA-F]+(\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)([pP][+-]?[0-9]+)?")
MOST_DIGITS = 4000


def number(atom: Atom) -> float | None:
    """The double that a literal stands for; None for a symbol."""
    text = atom.text
    if DECIMAL.fullmatch(text):
        return float(text)
    if HEXADECIMAL.fullmatch(text):
        return overflowing(lambda: float.fromhex(text))
    if RATIONAL.fullmatch(text):
        if len(text) > MOST_DIGITS:
            raise wrong("a rational number of this length is not taken", atom.span, "write it as a decimal number")
        return overflowing(lambda: float(Fraction(text)))
    return None


def overflowing(convert: object) -> float:
    try:
        return convert()  # type: ignore[operator, no-any-return]
    except OverflowError:
        return math.inf


def digits(form: Form) -> float:
    """`(digits m e b)`: m times b to the e."""
    parts = [whole(item) for item in form.items[1:]]
    if len(parts) != 3 or None in parts or abs(parts[1] or 0) > MOST_DIGITS or not 2 <= (parts[2] or 0) <= 10**6:
        raise wrong("digits takes three whole numbers: (digits mantissa exponent base)", form.span)
    mantissa, exponent, base = (int(p or 0) for p in parts)
    value = Fraction(base) ** exponent * mantissa
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, mantissa)


def whole(item: Expression) -> int | None:
    text = item.text if isinstance(item, Atom) else ""
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,4000}", text) else None
