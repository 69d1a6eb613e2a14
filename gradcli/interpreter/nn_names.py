"""torch.nn as programs name it: layers, losses, parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from gradcli.engine.containers import CONTAINERS, Named, Row
from gradcli.engine.image_layers import IMAGE_LAYERS
from gradcli.engine.initial import INITIAL, UTILS, functional_call, stack_module_state
from gradcli.engine.layers import LAYERS
from gradcli.engine.module import Module
from gradcli.engine.plain_layers import PLAIN, Plain
from gradcli.interpreter.attributes import MISSING, Table
from gradcli.interpreter.containers import VIEWS, DictView
from gradcli.interpreter.dtypes import DTYPES
from gradcli.interpreter.kinds import PARAMETER, add_kind, add_layer
from gradcli.interpreter.values import Kind, LazyIterator

FILES = {
    "Loss": "loss", "Conv": "conv", "BatchNorm": "batchnorm", "InstanceNorm": "instancenorm", "Norm": "normalization",
    "inear": "linear", "Identity": "linear", "Dropout": "dropout", "Pool": "pooling", "Embedding": "sparse", "latten": "flatten",
    "Sequential": "container", "ModuleList": "container", "Dict": "container", "ParameterList": "container", "Pad": "padding",
    "Upsample": "upsampling", "Unfold": "fold", "Fold": "fold", "ChannelShuffle": "channelshuffle", "Cosine": "distance",
    "Pairwise": "distance", "Pixel": "pixelshuffle",
}  # fmt: skip
"""What a layer's name has in it -> the file of torch.nn.modules that has the layer; the others are activations."""


def shown(name: str) -> str:
    return f"torch.nn.modules.{next((file for part, file in FILES.items() if part in name), 'activation')}.{name}"


def plain_kind(name: str) -> Kind:
    """The type of the layers of one name."""
    return add_layer(name, Kind(shown(name), (Plain,), partial(Plain, name), test=lambda layer: layer.name == name))


NN: dict[str, Any] = {
    **{name: add_kind(cls, Kind(shown(name), (cls,), cls)) for name, cls in {**LAYERS, **IMAGE_LAYERS, **CONTAINERS}.items()},
    **{name: plain_kind(name) for name in PLAIN},
    "Module": Kind("torch.nn.modules.module.Module", (Module,), Module),
    "Parameter": PARAMETER,
}

NN_MODULES: dict[str, dict[str, Any]] = {
    "torch.nn": NN,
    "torch.nn.init": dict(INITIAL),
    "torch.nn.utils": dict(UTILS),
    "torch.nn.parameter": {"Parameter": PARAMETER},
    "torch.func": {"functional_call": functional_call, "stack_module_state": stack_module_state},
}


def module_member(module: Module, name: str) -> Any:
    return module.names().get(name, MISSING)


def walk(through: Callable[..., Iterator[Any]], *, paths: bool) -> Callable[..., LazyIterator]:
    """A method that goes through what a module holds, with the paths or without."""

    def method(module: Module, *args: Any, **options: Any) -> LazyIterator:
        found = through(module, *args, **options)
        return LazyIterator("generator", found if paths else (value for _, value in found), 0)

    return method


def viewed(method: Callable[[Named], list[Any]]) -> Callable[[Named], DictView]:
    """keys, values, items: they print as those of a dict."""
    return lambda held: VIEWS[method.__name__](method(held))


MODULE_TABLE = Table(
    "Module",
    {"training": lambda m: m.training},
    {
        "forward": lambda m, *args, **kwargs: m.forward(*args, **kwargs),
        "parameters": walk(Module.named_parameters, paths=False),
        "named_parameters": walk(Module.named_parameters, paths=True),
        "buffers": walk(Module.named_buffers, paths=False),
        "named_buffers": walk(Module.named_buffers, paths=True),
        "children": walk(Module.named_children, paths=False),
        "named_children": walk(Module.named_children, paths=True),
        "modules": walk(Module.named_modules, paths=False),
        "named_modules": walk(Module.named_modules, paths=True),
        "zero_grad": Module.zero_grad,
        "train": Module.train,
        "eval": lambda m: m.train(False),
        "requires_grad_": Module.requires_grad_,
        "apply": Module.apply,
        "to": Module.to,
        "float": lambda m: m.to(DTYPES["float32"]),
        "double": lambda m: m.to(DTYPES["float64"]),
        "state_dict": Module.state_dict,
        "load_state_dict": Module.load_state_dict,
        "register_forward_hook": Module.register_forward_hook,
        "register_forward_pre_hook": Module.register_forward_pre_hook,
        "register_full_backward_hook": Module.register_full_backward_hook,
        "register_full_backward_pre_hook": Module.register_full_backward_pre_hook,
        "register_buffer": Module.register_buffer,
        "register_parameter": Module.register_parameter,
        "add_module": Module.add_module,
        "register_module": Module.add_module,
        "get_submodule": Module.get_submodule,
        "get_parameter": Module.get_parameter,
    },
    other=module_member,
    set_other=Module.assign,
    names=lambda m: list(m.names()),
)

ROW_TABLE = replace(
    MODULE_TABLE,
    methods={**MODULE_TABLE.methods, **{m.__name__: m for m in (Row.append, Row.extend, Row.insert, Row.pop)}},
)

NAMED_TABLE = replace(
    MODULE_TABLE,
    methods={
        **MODULE_TABLE.methods,
        **{m.__name__: m for m in (Named.update, Named.pop, Named.clear, Named.get)},
        **{name: viewed(method) for name, method in {"keys": Named.keys, "values": Named.values, "items": Named.items}.items()},
    },
)

NN_TABLES: dict[type, Table] = {Module: MODULE_TABLE, Row: ROW_TABLE, Named: NAMED_TABLE}
