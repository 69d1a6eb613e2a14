"""torch.nn's layers and losses without parameters: functions of the catalogue with their settings."""

from __future__ import annotations

from typing import Any

from gradcli.engine.layers import Layer, Settings
from gradcli.engine.methods import find
from gradcli.ops.catalogue import FUNCTIONS
from gradcli.ops.loss import reduction_of


class Plain(Layer):
    """A layer without parameters: a function of the catalogue. Which one, its name says."""

    def __init__(self, name: str, *given: Any, **named: Any) -> None:
        self.name = name
        self.function, self.shown, self.defaults = PLAIN[name]  # type: ignore[misc]
        super().__init__(*given, **named)

    def build(self, *args: Any, **settings: Any) -> None:
        if settings.get("stride", ...) is None and not self.name.startswith("LP"):  # a pooling window moves by its own length
            self.settings["stride"] = settings["kernel_size"]
        if "size_average" in settings:
            old = self.settings.pop("size_average"), self.settings.pop("reduce")
            self.settings["reduction"] = reduction_of(settings["reduction"], *old)

    def forward(self, *inputs: Any) -> Any:
        settings = dict(self.settings)
        if settings.pop("inplace", False):
            write = find(f"{self.function}_")
            assert write is not None
            return write(*inputs, **settings)
        if "training" in settings:
            settings["training"] = self.training
        return FUNCTIONS[self.function](*inputs, **settings)

    def described(self) -> str:
        told = self.settings.get("inplace") and "inplace" not in self.shown and self.name not in SILENT
        in_place = "inplace=True" if told else ""
        return ", ".join(part for part in (super().described(), in_place) if part)


SILENT = ("Hardsigmoid", "Hardswish")
"""Layers that do not tell that they write in place."""
AVERAGE = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
OLD: Settings = {"size_average": None, "reduce": None}
"""The old way to say the reduction."""
LP = "norm_type={norm_type}, kernel_size={kernel_size}, stride={stride}, ceil_mode={ceil_mode}"
PATCHES = "kernel_size={kernel_size}, dilation={dilation}, padding={padding}, stride={stride}"
WINDOW: Settings = {"kernel_size": ..., "dilation": 1, "padding": 0, "stride": 1}
RESPONSE: Settings = {"size": ..., "alpha": 1e-4, "beta": 0.75, "k": 1.0}
MAX = AVERAGE + ", dilation={dilation}, ceil_mode={ceil_mode}"

PLAIN: dict[str, tuple[str, str, Settings]] = {
    "ReLU": ("relu", "", {"inplace": False}),
    "ReLU6": ("relu6", "", {"inplace": False}),
    "Sigmoid": ("sigmoid", "", {}),
    "Tanh": ("tanh", "", {}),
    "LeakyReLU": ("leaky_relu", "negative_slope={negative_slope}", {"negative_slope": 0.01, "inplace": False}),
    "ELU": ("elu", "alpha={alpha}", {"alpha": 1.0, "inplace": False}),
    "CELU": ("celu", "alpha={alpha}", {"alpha": 1.0, "inplace": False}),
    "SELU": ("selu", "", {"inplace": False}),
    "GELU": ("gelu", "approximate={approximate!r}", {"approximate": "none"}),
    "SiLU": ("silu", "", {"inplace": False}),
    "Mish": ("mish", "", {"inplace": False}),
    "Softsign": ("softsign", "", {}),
    "Tanhshrink": ("tanhshrink", "", {}),
    "Softplus": ("softplus", "beta={beta}, threshold={threshold}", {"beta": 1.0, "threshold": 20.0}),
    "LogSigmoid": ("logsigmoid", "", {}),
    "Hardsigmoid": ("hardsigmoid", "", {"inplace": False}),
    "Hardswish": ("hardswish", "", {"inplace": False}),
    "Hardshrink": ("hardshrink", "{lambd}", {"lambd": 0.5}),
    "Hardtanh": ("hardtanh", "min_val={min_val}, max_val={max_val}", {"min_val": -1.0, "max_val": 1.0, "inplace": False}),
    "Softshrink": ("softshrink", "{lambd}", {"lambd": 0.5}),
    "GLU": ("glu", "dim={dim}", {"dim": -1}),
    "Threshold": ("threshold", "threshold={threshold}, value={value}", {"threshold": ..., "value": ..., "inplace": False}),
    "Softmax": ("softmax", "dim={dim}", {"dim": None}),
    "LogSoftmax": ("log_softmax", "dim={dim}", {"dim": None}),
    "Softmin": ("softmin", "dim={dim}", {"dim": None}),
    "Dropout": ("dropout", "p={p}, inplace={inplace}", {"p": 0.5, "inplace": False, "training": True}),
    "Flatten": ("flatten", "start_dim={start_dim}, end_dim={end_dim}", {"start_dim": 1, "end_dim": -1}),
    "Unflatten": ("unflatten", "dim={dim}, unflattened_size={sizes}", {"dim": ..., "sizes": ...}),
    "AdaptiveAvgPool1d": ("adaptive_avg_pool1d", "output_size={output_size}", {"output_size": ...}),
    "AdaptiveAvgPool2d": ("adaptive_avg_pool2d", "output_size={output_size}", {"output_size": ...}),
    "MaxPool1d": ("max_pool1d", MAX, {"kernel_size": ..., "stride": None, "padding": 0, "dilation": 1, "ceil_mode": False}),
    "AvgPool1d": ("avg_pool1d", AVERAGE, {"kernel_size": ..., "stride": None, "padding": 0}),
    "MaxPool2d": ("max_pool2d", MAX, {"kernel_size": ..., "stride": None, "padding": 0, "dilation": 1, "ceil_mode": False}),
    "AvgPool2d": ("avg_pool2d", AVERAGE, {"kernel_size": ..., "stride": None, "padding": 0}),
    "Dropout1d": ("dropout1d", "p={p}, inplace={inplace}", {"p": 0.5, "inplace": False, "training": True}),
    "Dropout2d": ("dropout2d", "p={p}, inplace={inplace}", {"p": 0.5, "inplace": False, "training": True}),
    "Softmax2d": ("softmax", "", {"dim": -3}),
    "AdaptiveMaxPool1d": ("adaptive_max_pool1d", "output_size={output_size}", {"output_size": ..., "return_indices": False}),
    "AdaptiveMaxPool2d": ("adaptive_max_pool2d", "output_size={output_size}", {"output_size": ..., "return_indices": False}),
    "LPPool1d": ("lp_pool1d", LP, {"norm_type": ..., "kernel_size": ..., "stride": None, "ceil_mode": False}),
    "LPPool2d": ("lp_pool2d", LP, {"norm_type": ..., "kernel_size": ..., "stride": None, "ceil_mode": False}),
    "LocalResponseNorm": ("local_response_norm", "{size}, alpha={alpha}, beta={beta}, k={k}", RESPONSE),
    "Unfold": ("nn.functional.unfold", PATCHES, WINDOW),
    "Fold": (
        "fold",
        "output_size={output_size}, " + PATCHES,
        {"output_size": ..., "kernel_size": ..., "dilation": 1, "padding": 0, "stride": 1},
    ),
    "PairwiseDistance": ("pairwise_distance", "", {"p": 2.0, "eps": 1e-06, "keepdim": False}),
    "ChannelShuffle": ("channel_shuffle", "groups={groups}", {"groups": ...}),
    "PixelUnshuffle": ("pixel_unshuffle", "downscale_factor={downscale_factor}", {"downscale_factor": ...}),
    "CosineSimilarity": ("cosine_similarity", "", {"dim": 1, "eps": 1e-08}),
    "PixelShuffle": ("pixel_shuffle", "upscale_factor={upscale_factor}", {"upscale_factor": ...}),
    "MSELoss": ("mse_loss", "", {**OLD, "reduction": "mean"}),
    "L1Loss": ("l1_loss", "", {**OLD, "reduction": "mean"}),
    "SmoothL1Loss": ("smooth_l1_loss", "", {**OLD, "reduction": "mean", "beta": 1.0}),
    "HuberLoss": ("huber_loss", "", {"reduction": "mean", "delta": 1.0}),
    "BCELoss": ("binary_cross_entropy", "", {"weight": None, **OLD, "reduction": "mean"}),
    "BCEWithLogitsLoss": ("binary_cross_entropy_with_logits", "", {"weight": None, **OLD, "reduction": "mean", "pos_weight": None}),
    "CrossEntropyLoss": (
        "cross_entropy",
        "",
        {"weight": None, "size_average": None, "ignore_index": -100, "reduce": None, "reduction": "mean", "label_smoothing": 0.0},
    ),
    "NLLLoss": ("nll_loss", "", {"weight": None, "size_average": None, "ignore_index": -100, "reduce": None, "reduction": "mean"}),
    "KLDivLoss": ("kl_div", "", {**OLD, "reduction": "mean", "log_target": False}),
    "SoftMarginLoss": ("soft_margin_loss", "", {**OLD, "reduction": "mean"}),
    "MarginRankingLoss": ("margin_ranking_loss", "", {"margin": 0.0, **OLD, "reduction": "mean"}),
    "HingeEmbeddingLoss": ("hinge_embedding_loss", "", {"margin": 1.0, **OLD, "reduction": "mean"}),
    "CosineEmbeddingLoss": ("cosine_embedding_loss", "", {"margin": 0.0, **OLD, "reduction": "mean"}),
    "TripletMarginLoss": ("triplet_margin_loss", "", {"margin": 1.0, "p": 2.0, "eps": 1e-06, "swap": False, **OLD, "reduction": "mean"}),
    "PoissonNLLLoss": (
        "poisson_nll_loss",
        "",
        {"log_input": True, "full": False, "size_average": None, "eps": 1e-08, "reduce": None, "reduction": "mean"},
    ),
    "GaussianNLLLoss": ("gaussian_nll_loss", "", {"full": False, "eps": 1e-06, "reduction": "mean"}),
    "MultiMarginLoss": ("multi_margin_loss", "", {"p": 1, "margin": 1.0, "weight": None, **OLD, "reduction": "mean"}),
    "MultiLabelMarginLoss": ("multilabel_margin_loss", "", {**OLD, "reduction": "mean"}),
    "MultiLabelSoftMarginLoss": ("multilabel_soft_margin_loss", "", {"weight": None, **OLD, "reduction": "mean"}),
}
"""Layers and losses without parameters: their function, how their settings are told, the settings."""
