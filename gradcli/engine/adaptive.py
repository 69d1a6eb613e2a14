"""Optimizers that scale each step by what gradients were before: RMSprop, Adagrad, Adadelta."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine.optim import Group, Optimizer, moment, positive
from gradcli.engine.tensor import Tensor
from gradcli.errors import DataError


class Adaptive(Optimizer):
    """Base: the gradient with weight decay, and what is kept for a parameter."""

    def decayed(self, p: Tensor, g: np.ndarray, group: Group) -> np.ndarray:
        return g + group["weight_decay"] * np.asarray(p.value) if group["weight_decay"] else g

    def kept(self, p: Tensor) -> dict[str, Any]:
        kept = self.state.setdefault(p, {"step": Tensor(np.array(0.0))})
        kept["step"] = Tensor(np.asarray(kept["step"].value + 1.0))
        return kept


class RMSprop(Adaptive):
    """Steps over the root of a moving mean of squares; `centered` takes the square of the mean off."""

    def __init__(
        self, params: Any, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0, momentum: float = 0,
        centered: bool = False, capturable: bool = False, foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        for value, text in (
            (lr, "Invalid learning rate"), (eps, "Invalid epsilon value"), (momentum, "Invalid momentum value"),
            (weight_decay, "Invalid weight_decay value"), (alpha, "Invalid alpha value"),
        ):  # fmt: skip
            positive(value, text)
        super().__init__(
            params,
            {
                "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
                "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            },
        )  # fmt: skip

    def updated(self, p: Tensor, g: np.ndarray, group: Group) -> Any:
        g, kept, alpha = self.decayed(p, g, group), self.kept(p), group["alpha"]
        square = alpha * moment(kept, "square_avg", g) + (1 - alpha) * g * g
        kept["square_avg"] = Tensor(square)
        if group["momentum"]:
            kept.setdefault("momentum_buffer", Tensor(np.zeros_like(g)))
        if group["centered"]:
            held = moment(kept, "grad_avg", g)
            mean = held + (1 - alpha) * (g - held)
            kept["grad_avg"] = Tensor(mean)
            square = square - mean * mean
        step = g / (np.sqrt(square) + group["eps"])
        if group["momentum"] > 0:
            step = group["momentum"] * moment(kept, "momentum_buffer", g) + step
            kept["momentum_buffer"] = Tensor(step)
        return np.asarray(p.value) - group["lr"] * step


class Adagrad(Adaptive):
    """Steps over the root of the sum of all squares so far."""

    def __init__(
        self, params: Any, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0, initial_accumulator_value: float = 0,
        eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:  # fmt: skip
        for value, text in (
            (lr, "Invalid learning rate"), (lr_decay, "Invalid lr_decay value"), (weight_decay, "Invalid weight_decay value"),
            (initial_accumulator_value, "Invalid initial_accumulator_value value"), (eps, "Invalid epsilon value"),
        ):  # fmt: skip
            positive(value, text)
        super().__init__(
            params,
            {
                "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
                "differentiable": differentiable, "fused": fused,
            },
        )  # fmt: skip

    def updated(self, p: Tensor, g: np.ndarray, group: Group) -> Any:
        g, kept = self.decayed(p, g, group), self.kept(p)
        first = Tensor(np.full_like(np.asarray(g), group["initial_accumulator_value"]))
        total = np.asarray(kept.get("sum", first).value) + g * g
        kept["sum"] = Tensor(total)
        lr = group["lr"] / (1 + (float(kept["step"].value) - 1) * group["lr_decay"])
        return np.asarray(p.value) - lr * (g / (np.sqrt(total) + group["eps"]))


class Adadelta(Adaptive):
    """Steps in the unit of the parameter: the gradient times the root of a mean of squared steps over one of squared gradients."""

    def __init__(
        self, params: Any, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        positive(lr, "Invalid learning rate")
        if not 0 <= rho <= 1:
            raise DataError(f"Invalid rho value: {rho}")
        positive(eps, "Invalid epsilon value")
        positive(weight_decay, "Invalid weight_decay value")
        super().__init__(
            params,
            {
                "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable,
                "foreach": foreach, "differentiable": differentiable,
            },
        )  # fmt: skip

    def updated(self, p: Tensor, g: np.ndarray, group: Group) -> Any:
        g, kept, rho, eps = self.decayed(p, g, group), self.kept(p), group["rho"], group["eps"]
        square = rho * moment(kept, "square_avg", g) + (1 - rho) * g * g
        before = moment(kept, "acc_delta", g)
        step = np.sqrt(before + eps) / np.sqrt(square + eps) * g
        kept["square_avg"], kept["acc_delta"] = Tensor(square), Tensor(rho * before + (1 - rho) * step * step)
        return np.asarray(p.value) - group["lr"] * step


OPTIMIZERS: dict[str, type[Optimizer]] = {"RMSprop": RMSprop, "Adagrad": Adagrad, "Adadelta": Adadelta}
