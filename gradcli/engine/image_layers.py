"""torch.nn's layers over signals and images: transposed convolutions, norms of single examples, padding, resizing."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from gradcli.engine.layers import BatchNorm1d, Convolution, Layer, Settings, scale, weigh
from gradcli.engine.module import Module
from gradcli.ops.catalogue import FUNCTIONS


class ConvTranspose1d(Convolution):
    """What carries gradients back through a convolution over one axis, as a layer."""

    function = "conv_transpose1d"
    defaults: ClassVar[Settings] = {
        "in_channels": ..., "out_channels": ..., "kernel_size": ..., "stride": 1, "padding": 0, "output_padding": 0, "groups": 1,
        "bias": True, "dilation": 1,
    }  # fmt: skip
    passed = ("stride", "padding", "output_padding", "groups", "dilation")
    told = ("kernel_size", "stride", "padding", "dilation", "output_padding")

    def build(self, in_channels: int, out_channels: int, kernel_size: Any, groups: int, bias: bool, **places: Any) -> None:
        shape = (in_channels, out_channels // groups, *self.spread(kernel_size))
        weigh(self, shape, math.prod(shape[1:]), out_channels, bias)


class ConvTranspose2d(ConvTranspose1d):
    """The same over the two axes of an image."""

    function, axes = "conv_transpose2d", 2


class InstanceNorm1d(BatchNorm1d):
    """Normalised for each channel of each example."""

    function = "instance_norm"
    defaults: ClassVar[Settings] = {**BatchNorm1d.defaults, "affine": False, "track_running_stats": False}


class InstanceNorm2d(InstanceNorm1d):
    """The same over the axes of an image."""


class RMSNorm(Layer):
    """Divided by the root of the mean square over the last axes, then scaled."""

    defaults: ClassVar[Settings] = {"normalized_shape": ..., "eps": None, "elementwise_affine": True}
    shown = "{normalized_shape}, eps={eps}, elementwise_affine={elementwise_affine}"

    def build(self, normalized_shape: Any, eps: float | None, elementwise_affine: bool) -> None:
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.settings["normalized_shape"] = shape
        scale(self, shape, elementwise_affine, False)

    def forward(self, x: Any) -> Any:
        return FUNCTIONS["rms_norm"](x, self.settings["normalized_shape"], self.held["weight"], self.settings["eps"])


class Upsample(Layer):
    """Resized to a size, or by a factor."""

    defaults: ClassVar[Settings] = {
        "size": None, "scale_factor": None, "mode": "nearest", "align_corners": None, "recompute_scale_factor": None,
    }  # fmt: skip

    def build(self, scale_factor: Any, **settings: Any) -> None:
        several = isinstance(scale_factor, (tuple, list))
        self.settings["scale_factor"] = tuple(map(float, scale_factor)) if several else scale_factor and float(scale_factor)

    def forward(self, x: Any) -> Any:
        return FUNCTIONS["interpolate"](x, **self.settings)

    def described(self) -> str:
        name = "size" if self.settings["scale_factor"] is None else "scale_factor"
        return f"{name}={self.settings[name]!r}, mode={self.settings['mode']!r}"


class Padding(Layer):
    """More elements at both ends of the last axes."""

    axes = 1
    mode = "constant"
    defaults: ClassVar[Settings] = {"padding": ...}
    shown = "{padding}"

    def build(self, padding: Any, **settings: Any) -> None:
        self.settings["padding"] = (padding,) * (2 * self.axes) if isinstance(padding, int) else tuple(padding)

    def forward(self, x: Any) -> Any:
        return FUNCTIONS["pad"](x, self.settings["padding"], self.mode, self.settings.get("value"))


class ConstantPadding(Padding):
    """With a value that the program chooses."""

    defaults: ClassVar[Settings] = {"padding": ..., "value": ...}
    shown = "padding={padding}, value={value}"


PADDINGS: tuple[tuple[str, type[Padding], str, tuple[int, ...]], ...] = (
    ("ZeroPad", Padding, "constant", (1, 2, 3)),
    ("ConstantPad", ConstantPadding, "constant", (1, 2, 3)),
    ("ReflectionPad", Padding, "reflect", (1, 2, 3)),
    ("ReplicationPad", Padding, "replicate", (1, 2, 3)),
    ("CircularPad", Padding, "circular", (1, 2, 3)),
)
"""The beginning of the name, what it derives from, the mode, over how many axes."""


def padding_layers() -> dict[str, type[Module]]:
    """ZeroPad1d, ZeroPad2d, ..."""
    return {
        f"{name}{axes}d": type(f"{name}{axes}d", (base,), {"mode": mode, "axes": axes})
        for name, base, mode, several in PADDINGS
        for axes in several
    }


IMAGE_LAYERS: dict[str, type[Module]] = {
    **{cls.__name__: cls for cls in (ConvTranspose1d, ConvTranspose2d, InstanceNorm1d, InstanceNorm2d, RMSNorm, Upsample)},
    **padding_layers(),
}
"""By name."""
