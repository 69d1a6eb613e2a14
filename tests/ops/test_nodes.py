"""Node names and what nodes keep, as PyTorch's: it decides what frees, what a second pass meets, what an in-place change breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradcli.engine import Tensor, backward
from gradcli.ops.catalogue import FUNCTIONS as F

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a run silences numpy's

NOTHING: set[str] = set()
X, OUT = {"x"}, {"out"}
UNARY = {
    "sign": ("SignBackward0", NOTHING), "floor": ("FloorBackward0", NOTHING), "ceil": ("CeilBackward0", NOTHING),
    "round": ("RoundBackward0", NOTHING), "trunc": ("TruncBackward0", NOTHING), "frac": ("FracBackward0", NOTHING),
    "neg": ("NegBackward0", NOTHING), "deg2rad": ("Deg2RadBackward0", NOTHING),
    "square": ("PowBackward0", X), "abs": ("AbsBackward0", X), "log": ("LogBackward0", X), "log2": ("Log2Backward0", X),
    "log10": ("Log10Backward0", X), "log1p": ("Log1PBackward0", X), "sin": ("SinBackward0", X), "cos": ("CosBackward0", X),
    "asin": ("AsinBackward0", X), "acos": ("AcosBackward0", X), "atan": ("AtanBackward0", X), "sinh": ("SinhBackward0", X),
    "cosh": ("CoshBackward0", X), "asinh": ("AsinhBackward0", X), "acosh": ("AcoshBackward0", X), "atanh": ("AtanhBackward0", X),
    "relu6": ("HardtanhBackward0", X), "hardtanh": ("HardtanhBackward0", X), "leaky_relu": ("LeakyReluBackward0", X),
    "elu": ("EluBackward0", X), "selu": ("EluBackward0", X), "celu": ("CeluBackward0", X), "gelu": ("GeluBackward0", X),
    "silu": ("SiluBackward0", X), "mish": ("MishBackward0", X), "softplus": ("SoftplusBackward0", X),
    "hardsigmoid": ("HardsigmoidBackward0", X), "hardswish": ("HardswishBackward0", X), "softshrink": ("SoftshrinkBackward0", X),
    "hardshrink": ("HardshrinkBackward0", X), "erf": ("ErfBackward0", X), "erfc": ("ErfcBackward0", X), "erfinv": ("ErfinvBackward0", X),
    "lgamma": ("LgammaBackward0", X), "digamma": ("DigammaBackward0", X), "i0": ("I0Backward0", X),
    "special.entr": ("SpecialEntrBackward0", X), "sinc": ("SincBackward0", X), "logit": ("LogitBackward0", X),
    "nan_to_num": ("NanToNumBackward0", X), "glu": ("GluBackward0", X), "logsigmoid": ("LogSigmoidBackward0", X),
    "special.erfcx": ("SpecialErfcxBackward0", X | OUT), "special.i1": ("SpecialI1Backward0", X | OUT),
    "special.log_ndtr": ("SpecialLogNdtrBackward0", X | OUT),
    "sqrt": ("SqrtBackward0", OUT), "rsqrt": ("RsqrtBackward0", OUT), "reciprocal": ("ReciprocalBackward0", OUT),
    "exp": ("ExpBackward0", OUT), "exp2": ("Exp2Backward0", OUT), "expm1": ("Expm1Backward0", OUT), "tan": ("TanBackward0", OUT),
    "tanh": ("TanhBackward0", OUT), "sigmoid": ("SigmoidBackward0", OUT), "relu": ("ReluBackward0", OUT),
}  # fmt: skip

BINARY = {
    "add": ("AddBackward0", NOTHING, NOTHING), "sub": ("SubBackward0", NOTHING, NOTHING), "rsub": ("RsubBackward0", NOTHING, NOTHING),
    "mul": ("MulBackward0", {"y"}, {"x"}), "div": ("DivBackward0", {"y"}, {"x", "y"}),
    "fmod": ("FmodBackward1", NOTHING, {"x", "y"}), "remainder": ("RemainderBackward1", NOTHING, {"x", "y"}),
    "hypot": ("HypotBackward0", {"x", "out"}, {"y", "out"}), "ldexp": ("LdexpBackward0", {"y"}, OUT),
    "atan2": ("Atan2Backward0", {"x", "y"}, {"x", "y"}), "maximum": ("MaximumBackward0", {"x", "y"}, {"x", "y"}),
    "minimum": ("MinimumBackward0", {"x", "y"}, {"x", "y"}), "fmax": ("FmaxBackward0", {"x", "y"}, {"x", "y"}),
    "fmin": ("FminBackward0", {"x", "y"}, {"x", "y"}), "logaddexp": ("LogaddexpBackward0", {"x", "y"}, {"x", "y"}),
    "logaddexp2": ("Logaddexp2Backward0", {"x", "y"}, {"x", "y"}), "xlogy": ("XlogyBackward0", {"x", "y"}, {"x", "y"}),
    "special.xlog1py": ("SpecialXlog1PyBackward0", {"x", "y"}, {"x", "y"}),
    "pow": ("PowBackward1", {"x", "y", "out"}, {"x", "y", "out"}),
}  # fmt: skip


def kept(node: Any) -> set[str]:
    names = {node.op.arguments[slot] for slot in node.plan.kept}
    return names | {"out"} if node.plan.keeps_out else names


def leaf(asks: bool = True) -> Tensor:
    return Tensor(np.array([0.25, 0.5]), asks)


@pytest.mark.parametrize("name", UNARY)
def test_of_one_argument(name: str) -> None:
    node = F[name](leaf()).grad_fn
    assert (node.name, kept(node)) == UNARY[name]


@pytest.mark.parametrize("name", BINARY)
def test_of_two_arguments_keeps_what_the_asking_side_needs(name: str) -> None:
    node, first, second = BINARY[name]
    for asks, expected in (((True, False), first), ((False, True), second), ((True, True), first | second)):
        made = F[name](leaf(asks[0]), leaf(asks[1])).grad_fn
        assert (made.name, kept(made)) == (node, expected)


@pytest.mark.parametrize(
    ("call", "node"),
    [
        (lambda x: F["clamp"](x, min=0), "ClampBackward1"),
        (lambda x: F["clamp"](x, min=x), "ClampBackward0"),
        (lambda x: F["clamp_min"](x, 0.2), "ClampMinBackward0"),
        (lambda x: F["clamp_max"](x, 0.2), "ClampMaxBackward0"),
        (lambda x: F["clamp_min"](x, x), "ClampMinBackward1"),
        (lambda x: F["lerp"](x, x, 0.3), "LerpBackward0"),
        (lambda x: F["lerp"](x, x, x), "LerpBackward1"),
        (lambda x: F["addcmul"](x, x, x), "AddcmulBackward0"),
        (lambda x: F["addcdiv"](x, x, x, value=2), "AddcdivBackward0"),
        (lambda x: F["polygamma"](1, x), "PolygammaBackward0"),
        (lambda x: F["mvlgamma"](x + 2, 2), "MvlgammaBackward0"),
        (lambda x: F["igamma"](leaf(False), x), "IgammaBackward0"),
        (lambda x: F["special.zeta"](leaf(False) + 2, x), "SpecialZetaBackward0"),
        (lambda x: F["threshold"](x, 0.1, 0.0), "ThresholdBackward0"),
        (lambda x: F["copysign"](x, x), "CopysignBackward0"),
        (lambda x: F["heaviside"](x, x), "NotImplemented"),
        (lambda x: F["softsign"](x), "DivBackward0"),
        (lambda x: F["tanhshrink"](x), "SubBackward0"),
        (lambda x: F["round"](x, decimals=2), "RoundBackward1"),
    ],
)
def test_forms(call: Callable[[Tensor], Tensor], node: str) -> None:
    assert call(leaf()).grad_fn.name == node


def test_an_in_place_change_of_the_argument_leaves_tanh_alone() -> None:
    x = leaf()
    h = x * 1
    y = F["tanh"](h)
    h += 1
    backward(y.sum())
    np.testing.assert_allclose(x.grad.value, 1 - np.tanh([0.25, 0.5]) ** 2)


def test_an_in_place_change_of_the_result_breaks_tanh() -> None:
    y = F["tanh"](leaf() * 1)
    y += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        backward(y.sum())
