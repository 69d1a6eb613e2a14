"""torch.optim: SGD and Adam over leaves, so that a training step runs as it is written."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.mode import enable_grad, recording, state
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError, DataError

Group = dict[str, Any]


class Optimizer:
    """Parameters in groups, each with its options; `state` keeps what a step hands to the next, by parameter."""

    defaults: Group

    def __init__(self, params: Any, defaults: Group) -> None:
        self.defaults = defaults
        self.steps = 0
        self.param_groups: list[Group] = []
        self.state: dict[Tensor, dict[str, Any]] = {}
        if isinstance(params, Tensor):
            raise ArgumentError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got torch.DoubleTensor",
                hint="pass a list: [w, b]",
            )
        groups = list(params)
        if not groups:
            raise DataError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, group: Group) -> None:
        """Add parameters with options of their own."""
        params = group["params"]
        members = [params] if isinstance(params, Tensor) else list(params)
        names: Group = {}
        if members and all(isinstance(m, tuple) and len(m) == 2 for m in members):
            names = {"param_names": [name for name, _ in members]}
            members = [p for _, p in members]
        for p in members:
            if not isinstance(p, Tensor):
                raise ArgumentError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if p.grad_fn is not None and not p.retained:
                raise DataError("can't optimize a non-leaf Tensor", hint="pass the leaf itself, not a result of operations")
        ids = [id(p) for p in members]
        if len(set(ids)) < len(ids):
            state.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                UserWarning,
            )
        if any(id(p) in ids for held in self.param_groups for p in held["params"]):
            raise DataError("some parameters appear in more than one parameter group")
        self.param_groups.append({"params": members, **self.defaults, **names, **without(group, "params")})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters."""
        for group in self.param_groups:
            for p in group["params"]:
                if p._grad is None:
                    continue
                if set_to_none:
                    p._grad = None
                else:
                    p._grad = Tensor(np.zeros(p.shape, p.dtype))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient."""
        self.steps += 1
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with recording(False):
            for group in self.param_groups:
                for p in group["params"]:
                    if p._grad is not None:
                        g = np.asarray(p._grad.value)
                        write(p, self.updated(p, -g if group["maximize"] else g, group))
        return loss

    def updated(self, p: Tensor, g: np.ndarray, group: Group) -> Any:
        """The new value of a parameter."""
        raise NotImplementedError

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for k, group in enumerate(self.param_groups):
            lines += [f"Parameter Group {k}", *(f"    {key}: {group[key]}" for key in sorted(group) if key != "params"), ""]
        return "\n".join([*lines[:-1], ")"])

    def state_dict(self) -> dict[str, Any]:
        """The state by the number of the parameter, and the options."""
        members = [p for group in self.param_groups for p in group["params"]]
        number = {id(p): k for k, p in enumerate(members)}
        return {
            "state": {number[id(p)]: dict(kept) for p, kept in self.state.items()},
            "param_groups": [
                {**without(group, "params"), "params": [number[id(p)] for p in group["params"]]} for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state and the options of another optimizer of parameters of the same number."""
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise DataError("loaded state dict has a different number of parameter groups")
        if any(len(old["params"]) != len(new["params"]) for old, new in zip(self.param_groups, saved, strict=True)):
            raise DataError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        held = [p for group in self.param_groups for p in group["params"]]
        numbers = [number for group in saved for number in group["params"]]
        kept = state_dict["state"]
        self.state = {p: dict(kept[number]) for number, p in zip(numbers, held, strict=True) if number in kept}
        for group, new in zip(self.param_groups, saved, strict=True):
            group.update(without(new, "params"))


def without(group: Group, name: str) -> Group:
    return {key: value for key, value in group.items() if key != name}


def write(p: Tensor, value: Any) -> None:
    """Overwrite a leaf, as under no_grad: one write more, no history."""
    p.array[...] = value
    p.version.bump(p)
    if state.tracer is not None:
        p.own_record = None


def positive(value: float, text: str) -> None:
    if not value >= 0:
        raise DataError(f"{text}: {value}")


class SGD(Optimizer):
    """Gradient descent with momentum, dampening, Nesterov's variant and weight decay."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        positive(lr, "Invalid learning rate")
        positive(momentum, "Invalid momentum value")
        positive(weight_decay, "Invalid weight_decay value")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise DataError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            {
                "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
                "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
            },
        )  # fmt: skip

    def updated(self, p: Tensor, g: np.ndarray, group: Group) -> Any:
        value = np.asarray(p.value)
        if group["weight_decay"]:
            g = g + group["weight_decay"] * value
        if group["momentum"]:
            kept = self.state.setdefault(p, {})
            held = kept.get("momentum_buffer")
            buffer = g.copy() if held is None else group["momentum"] * np.asarray(held.value) + (1 - group["dampening"]) * g
            kept["momentum_buffer"] = Tensor(buffer)
            g = g + group["momentum"] * buffer if group["nesterov"] else buffer
        return value - group["lr"] * g


class Adam(Optimizer):
    """Adam; with amsgrad the largest second moment so far divides."""

    decoupled = False
    """Weight decay shrinks the parameter itself (AdamW), not through the gradient."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        positive(lr, "Invalid learning rate")
        positive(eps, "Invalid epsilon value")
        for k, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise DataError(f"Invalid beta parameter at index {k}: {beta}")
        positive(weight_decay, "Invalid weight_decay value")
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
                "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay or self.decoupled,
            },
        )  # fmt: skip

    def updated(self, p: Tensor, g: np.ndarray, group: Group) -> Any:
        value, lr = np.asarray(p.value), group["lr"]
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                value = value * (1 - lr * group["weight_decay"])
            else:
                g = g + group["weight_decay"] * value
        kept = self.state.setdefault(p, {"step": Tensor(np.array(0.0))})
        kept["step"] = Tensor(np.asarray(kept["step"].value + 1.0))
        t = float(kept["step"].value)
        beta1, beta2 = group["betas"]
        first = beta1 * moment(kept, "exp_avg", g) + (1 - beta1) * g
        second = beta2 * moment(kept, "exp_avg_sq", g) + (1 - beta2) * g * g
        kept["exp_avg"], kept["exp_avg_sq"] = Tensor(first), Tensor(second)
        largest = second
        if group["amsgrad"]:
            largest = np.maximum(moment(kept, "max_exp_avg_sq", g), second)
            kept["max_exp_avg_sq"] = Tensor(largest)
        denominator = np.sqrt(largest) / math.sqrt(1 - beta2**t) + group["eps"]
        return value - lr / (1 - beta1**t) * (first / denominator)


class AdamW(Adam):
    """Adam with weight decay on the parameters themselves."""

    decoupled = True

    def __init__(self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float = 1e-2, amsgrad: bool = False, **options: Any) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **options)


def moment(kept: dict[str, Any], name: str, like: np.ndarray) -> np.ndarray:
    """A moving average of the last step, zeros at first."""
    held = kept.get(name)
    return np.zeros_like(like) if held is None else np.asarray(held.value)


OPTIMIZERS: dict[str, type[Optimizer]] = {"SGD": SGD, "Adam": Adam, "AdamW": AdamW}

OPTIMIZER_PROPERTIES: dict[str, Callable[[Optimizer], Any]] = {
    "param_groups": lambda o: o.param_groups,
    "defaults": lambda o: o.defaults,
    "state": lambda o: o.state,
}

OPTIMIZER_METHODS: dict[str, Callable[..., Any]] = {
    "step": Optimizer.step,
    "zero_grad": Optimizer.zero_grad,
    "add_param_group": Optimizer.add_param_group,
    "state_dict": Optimizer.state_dict,
    "load_state_dict": Optimizer.load_state_dict,
}
