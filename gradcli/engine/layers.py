"""torch.nn's layers that have parameters."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.module import Module, parameter
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError
from gradcli.ops.catalogue import FUNCTIONS
from gradcli.ops.devices import here

Settings = dict[str, Any]


class Layer(Module):
    """A module with settings: `defaults` gives their names in order (`...` where there is no default), `shown` how they are told."""

    function = ""
    defaults: ClassVar[Settings] = {}
    shown = ""

    def __init__(self, *given: Any, dtype: Any = None, device: Any = None, **named: Any) -> None:
        super().__init__()
        here(device)
        self.settings = {**self.defaults, **self.bound(given, named)}
        self.build(**self.settings)
        if dtype is not None:
            self.to(dtype)

    def bound(self, given: tuple[Any, ...], named: Settings) -> Settings:
        """What a call of the class gives, by name (TypeError in Python's words)."""
        names = list(self.defaults)
        call, hint = f"{self.name}.__init__()", f"it takes {', '.join(names) or 'no arguments'}"
        if len(given) > len(names):
            raise ArgumentError(f"{call} takes {counted(self.defaults)} but {len(given) + 1} were given", hint=hint)
        found = dict(zip(names, given, strict=False))
        for name in named:
            if name not in self.defaults or name in found:
                wrong = "multiple values for" if name in found else "an unexpected keyword"
                raise ArgumentError(f"{call} got {wrong} argument '{name}'", hint=hint)
        found |= named
        missing = [f"'{name}'" for name, default in self.defaults.items() if default is ... and name not in found]
        if missing:
            listed = " and ".join([", ".join(missing[:-1]) + ("," if len(missing) > 2 else ""), missing[-1]] if missing[1:] else missing)
            raise ArgumentError(f"{call} missing {len(missing)} required positional argument{'s' * (len(missing) > 1)}: {listed}")
        return found

    def build(self, *args: Any, **settings: Any) -> None:
        """Make the parameters."""

    def with_parameters(self, *inputs: Any, **settings: Any) -> Any:
        """The function of a layer that has a weight and a bias."""
        return FUNCTIONS[self.function](*inputs, self.held["weight"], self.held["bias"], **settings)

    def described(self) -> str:
        return self.shown.format(**self.settings)


def written(tensor: Tensor, times: int = 1) -> Tensor:
    """A first value counts as a write: PyTorch's layers make empty tensors and fill them."""
    tensor.version.count = times
    return tensor


def counted(defaults: Settings) -> str:
    """How many positional arguments a class takes, in Python's words."""
    most, least = len(defaults) + 1, 1 + sum(default is ... for default in defaults.values())
    return f"{most} positional argument{'s' * (most > 1)}" if most == least else f"from {least} to {most} positional arguments"


def drawn(shape: tuple[int, ...], bound: float) -> Tensor:
    """A parameter drawn uniformly between -bound and bound, as PyTorch's layers begin."""
    state.charge(math.prod(shape))
    return written(parameter(Tensor(np.asarray(state.rng.uniform(-bound, bound, shape)))))


def filled(shape: tuple[int, ...], value: float) -> Tensor:
    state.charge(math.prod(shape))
    return written(parameter(Tensor(np.full(shape, value))))


def weigh(layer: Module, shape: tuple[int, ...], fan_in: int, outputs: int, bias: bool) -> None:
    """Draw a weight and, unless switched off, a bias, for outputs to each of which `fan_in` inputs come."""
    bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
    layer.held["weight"] = drawn(shape, bound)
    layer.held["bias"] = drawn((outputs,), bound) if bias else None


def scale(layer: Module, shape: tuple[int, ...], affine: bool, bias: bool) -> None:
    """A weight of ones and a bias of zeros, unless switched off."""
    layer.held["weight"] = filled(shape, 1.0) if affine else None
    layer.held["bias"] = filled(shape, 0.0) if affine and bias else None
    if "bias" in layer.settings:
        layer.settings["bias"] = layer.held["bias"] is not None


class Linear(Layer):
    """x @ weight.T + bias: (..., in_features) -> (..., out_features)."""

    function = "linear"
    defaults: ClassVar[Settings] = {"in_features": ..., "out_features": ..., "bias": True}
    shown = "in_features={in_features}, out_features={out_features}, bias={bias}"

    def build(self, in_features: int, out_features: int, bias: bool) -> None:
        weigh(self, (out_features, in_features), in_features, out_features, bias)

    def forward(self, x: Any) -> Any:
        return self.with_parameters(x)


class Bilinear(Layer):
    """x1 @ weight[k] @ x2 + bias[k] for each output k."""

    function = "bilinear"
    defaults: ClassVar[Settings] = {"in1_features": ..., "in2_features": ..., "out_features": ..., "bias": True}
    shown = "in1_features={in1_features}, in2_features={in2_features}, out_features={out_features}, bias={bias}"

    def build(self, in1_features: int, in2_features: int, out_features: int, bias: bool) -> None:
        weigh(self, (out_features, in1_features, in2_features), in1_features, out_features, bias)

    def forward(self, x1: Any, x2: Any) -> Any:
        return self.with_parameters(x1, x2)


class Convolution(Layer):
    """Cross-correlation with learnt kernels over `axes` axes."""

    axes = 1
    defaults: ClassVar[Settings] = {
        "in_channels": ..., "out_channels": ..., "kernel_size": ..., "stride": 1, "padding": 0, "dilation": 1, "groups": 1, "bias": True,
    }  # fmt: skip

    passed: tuple[str, ...] = ("stride", "padding", "dilation", "groups")
    """What the function is told."""
    told: tuple[str, ...] = ("kernel_size", "stride", "padding", "dilation")
    """What the text tells."""

    def build(self, in_channels: int, out_channels: int, kernel_size: Any, groups: int, bias: bool, **places: Any) -> None:
        shape = (out_channels, in_channels // groups, *self.spread(kernel_size))
        weigh(self, shape, math.prod(shape[1:]), out_channels, bias)

    def spread(self, value: Any) -> Any:
        return tuple(value) if isinstance(value, (tuple, list)) else value if isinstance(value, str) else (value,) * self.axes

    def forward(self, x: Any) -> Any:
        return self.with_parameters(x, **{name: self.settings[name] for name in self.passed})

    def described(self) -> str:
        told = {name: self.spread(self.settings[name]) for name in self.told}
        usual = {"padding": self.spread(0), "dilation": self.spread(1), "output_padding": self.spread(0)}
        parts = [f"{name}={value!r}" for name, value in told.items() if value != usual.get(name)]
        parts += [f"{name}={self.settings[name]}" for name, value in (("groups", 1), ("bias", True)) if self.settings[name] != value]
        return ", ".join([str(self.settings["in_channels"]), str(self.settings["out_channels"]), *parts])


class Conv1d(Convolution):
    """Over one axis."""

    function = "conv1d"


class Conv2d(Convolution):
    """Over the two axes of an image."""

    function, axes = "conv2d", 2


class Conv3d(Convolution):
    """Over three axes."""

    function, axes = "conv3d", 3


class Embedding(Layer):
    """Rows of a table by their numbers."""

    defaults: ClassVar[Settings] = {"num_embeddings": ..., "embedding_dim": ..., "padding_idx": None}

    def build(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None) -> None:
        state.charge(num_embeddings * embedding_dim)
        table = state.rng.standard_normal((num_embeddings, embedding_dim))
        if padding_idx is not None:
            table[padding_idx] = 0
        self.held["weight"] = written(parameter(Tensor(table)), 1 if padding_idx is None else 2)

    def forward(self, x: Any) -> Any:
        return FUNCTIONS["embedding"](x, self.held["weight"], self.settings["padding_idx"])

    def described(self) -> str:
        rows, columns, padding = self.settings.values()
        return f"{rows}, {columns}" + ("" if padding is None else f", padding_idx={padding}")


class LayerNorm(Layer):
    """Normalised over the last axes, then scaled and shifted."""

    defaults: ClassVar[Settings] = {"normalized_shape": ..., "eps": 1e-5, "elementwise_affine": True, "bias": True}
    shown = "{normalized_shape}, eps={eps}, elementwise_affine={elementwise_affine}, bias={bias}"

    def build(self, normalized_shape: Any, elementwise_affine: bool, bias: bool, eps: float) -> None:
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.settings["normalized_shape"] = shape
        scale(self, shape, elementwise_affine, bias)

    def forward(self, x: Any) -> Any:
        return FUNCTIONS["layer_norm"](x, self.settings["normalized_shape"], self.held["weight"], self.held["bias"], self.settings["eps"])


class GroupNorm(Layer):
    """Normalised over groups of channels, then scaled and shifted."""

    defaults: ClassVar[Settings] = {"num_groups": ..., "num_channels": ..., "eps": 1e-5, "affine": True, "bias": True}
    shown = "{num_groups}, {num_channels}, eps={eps}, affine={affine}, bias={bias}"

    def build(self, num_groups: int, num_channels: int, eps: float, affine: bool, bias: bool) -> None:
        scale(self, (num_channels,), affine, bias)

    def forward(self, x: Any) -> Any:
        return FUNCTIONS["group_norm"](x, self.settings["num_groups"], self.held["weight"], self.held["bias"], self.settings["eps"])


class BatchNorm1d(Layer):
    """Normalised for each channel over the batch while training, by the running statistics else."""

    function = "batch_norm"
    defaults: ClassVar[Settings] = {
        "num_features": ..., "eps": 1e-5, "momentum": 0.1, "affine": True, "track_running_stats": True, "bias": True,
    }  # fmt: skip
    shown = "{num_features}, eps={eps}, momentum={momentum}, affine={affine}, bias={bias}, track_running_stats={track_running_stats}"

    def build(self, num_features: int, affine: bool, bias: bool, track_running_stats: bool, eps: float, momentum: float) -> None:
        state.charge(2 * num_features)
        scale(self, (num_features,), affine, bias)
        running = (np.zeros(num_features), np.ones(num_features), np.array(0))
        for name, value in zip(("running_mean", "running_var", "num_batches_tracked"), running, strict=True):
            self.buffered[name] = written(Tensor(value)) if track_running_stats else None

    def forward(self, x: Any) -> Any:
        mean, variance, counted = self.buffered.values()
        if self.training and counted is not None:
            counted.array[...] += 1
        settings, by_batch = self.settings, self.training or mean is None
        return FUNCTIONS[self.function](
            x, mean, variance, self.held["weight"], self.held["bias"], by_batch, settings["momentum"], settings["eps"]
        )


class BatchNorm2d(BatchNorm1d):
    """The same over the axes of an image too."""


class PReLU(Layer):
    """max(x, 0) + weight * min(x, 0), with a learnt weight."""

    defaults: ClassVar[Settings] = {"num_parameters": 1, "init": 0.25}
    shown = "num_parameters={num_parameters}"

    def build(self, num_parameters: int, init: float) -> None:
        self.held["weight"] = filled((num_parameters,), init)

    def forward(self, x: Any) -> Any:
        return FUNCTIONS["prelu"](x, self.held["weight"])


class Identity(Module):
    """What it is given."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, x: Any) -> Any:
        return x


LAYERS: dict[str, type[Module]] = {
    cls.__name__: cls
    for cls in (
        Linear, Bilinear, Conv1d, Conv2d, Conv3d, Embedding, LayerNorm, GroupNorm, BatchNorm1d, BatchNorm2d, PReLU, Identity,
    )
}  # fmt: skip
"""By name."""
