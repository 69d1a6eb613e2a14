"""torch.optim.lr_scheduler: learning rates that change from step to step."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from gradcli.engine.mode import state
from gradcli.engine.optim import Group, Optimizer
from gradcli.errors import ArgumentError, DataError

Factor = Callable[[int], float]


class Schedule:
    """Base: `rate` gives the next learning rate of a group; the first one is set at once."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise ArgumentError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        self.last_epoch = last_epoch
        self.start()

    def start(self) -> None:
        """Remember the first learning rates, and set those of the first step."""
        for group in self.optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in self.optimizer.param_groups]
        self.advance()

    def rate(self, group: Group, k: int) -> float:
        """The learning rate of the k-th group at `last_epoch`."""
        raise NotImplementedError

    def advance(self) -> None:
        self.last_epoch += 1
        groups = self.optimizer.param_groups
        for group, lr in zip(groups, [self.rate(group, k) for k, group in enumerate(groups)], strict=True):
            group["lr"] = lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next learning rate."""
        if not self.optimizer.steps and self.last_epoch == 0:
            state.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in the "
                "opposite order: `optimizer.step()` before `lr_scheduler.step()`.",
                UserWarning,
            )
        if epoch is not None:
            self.last_epoch = epoch - 1
        self.advance()

    def get_last_lr(self) -> list[float]:
        """The learning rate of each group now."""
        return [group["lr"] for group in self.optimizer.param_groups]


class StepLR(Schedule):
    """Times gamma after every `step_size` steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, group: Group, k: int) -> float:
        return float(group["lr"] if self.last_epoch % self.step_size or not self.last_epoch else group["lr"] * self.gamma)


class MultiStepLR(Schedule):
    """Times gamma at each of the milestones."""

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, group: Group, k: int) -> float:
        count = self.milestones[self.last_epoch]
        return float(group["lr"] * self.gamma**count if count else group["lr"])


class ExponentialLR(Schedule):
    """Times gamma at each step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, group: Group, k: int) -> float:
        return float(group["lr"] * self.gamma if self.last_epoch else group["lr"])


class ByFunction(Schedule):
    """Base of what asks a function, one for all groups or one for each."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Factor | list[Factor], last_epoch: int = -1) -> None:
        groups = len(optimizer.param_groups)
        self.factors = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
        if len(self.factors) != groups:
            raise DataError(f"Expected {groups} lr_lambdas, but got {len(self.factors)}")
        super().__init__(optimizer, last_epoch)


class LambdaLR(ByFunction):
    """The first learning rate times what the function says of the number of steps."""

    def rate(self, group: Group, k: int) -> float:
        return self.base_lrs[k] * self.factors[k](self.last_epoch)  # type: ignore[no-any-return]


class MultiplicativeLR(ByFunction):
    """Times what the function says, at each step."""

    def rate(self, group: Group, k: int) -> float:
        return group["lr"] * self.factors[k](self.last_epoch) if self.last_epoch else group["lr"]  # type: ignore[no-any-return]


class CosineAnnealingLR(Schedule):
    """From the first learning rate to eta_min in T_max steps along a cosine, and back."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, group: Group, k: int) -> float:
        now, turn, low, lr = self.last_epoch, self.T_max, self.eta_min, group["lr"]
        if not now:
            return float(lr)
        if (now - 1 - turn) % (2 * turn) == 0:
            return float(lr + (self.base_lrs[k] - low) * (1 - math.cos(math.pi / turn)) / 2)
        return float((1 + math.cos(math.pi * now / turn)) / (1 + math.cos(math.pi * (now - 1) / turn)) * (lr - low) + low)


class LinearLR(Schedule):
    """From the first learning rate times start_factor to it times end_factor, in equal steps."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 < start_factor <= 1:
            raise DataError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise DataError("Ending multiplicative factor expected to be between 0 and 1.")
        self.first, self.last, self.total = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def rate(self, group: Group, k: int) -> float:
        now, lr = self.last_epoch, group["lr"]
        if not now:
            return float(lr * self.first)
        if now > self.total:
            return float(lr)
        return float(lr * (1.0 + (self.last - self.first) / (self.total * self.first + (now - 1) * (self.last - self.first))))


class ConstantLR(Schedule):
    """The first learning rate times a factor for `total_iters` steps."""

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        if not 0 <= factor <= 1:
            raise DataError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def rate(self, group: Group, k: int) -> float:
        if not self.last_epoch:
            return float(group["lr"] * self.factor)
        return float(group["lr"] * (1.0 / self.factor) if self.last_epoch == self.total else group["lr"])


class PolynomialLR(Schedule):
    """Down to 0 in `total_iters` steps, along a power."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def rate(self, group: Group, k: int) -> float:
        now, total = self.last_epoch, self.total
        if not now or now > total:
            return float(group["lr"])
        return float(group["lr"] * ((1.0 - now / total) / (1.0 - (now - 1) / total)) ** self.power)


class ReduceLROnPlateau(Schedule):
    """Times `factor` when a metric has not become better for more than `patience` steps."""

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr: float = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise DataError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise DataError(f"mode {mode} is unknown!")
        self.sign = 1.0 if mode == "min" else -1.0
        self.factor, self.patience, self.threshold, self.relative = factor, patience, threshold, threshold_mode == "rel"
        self.cooldown, self.min_lr, self.eps = cooldown, min_lr, eps
        self.best, self.bad, self.cooling = math.inf * self.sign, 0, 0
        super().__init__(optimizer)

    def start(self) -> None:
        self.last_epoch = 0

    def better(self, value: float) -> bool:
        if math.isinf(self.best):
            return self.sign * value < math.inf
        margin = self.threshold * (abs(self.best) if self.relative else 1.0)
        return self.sign * value < self.sign * self.best - margin

    def step(self, metrics: Any) -> None:  # type: ignore[override]
        """Look at the metric of one epoch."""
        value = float(metrics)
        self.last_epoch += 1
        if self.better(value):
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        if self.cooling:
            self.cooling -= 1
            self.bad = 0
        if self.bad > self.patience:
            for group in self.optimizer.param_groups:
                lr = max(group["lr"] * self.factor, self.min_lr)
                if group["lr"] - lr > self.eps:
                    group["lr"] = lr
            self.cooling, self.bad = self.cooldown, 0


SCHEDULES: dict[str, type[Schedule]] = {
    cls.__name__: cls
    for cls in (
        StepLR, MultiStepLR, ExponentialLR, LambdaLR, MultiplicativeLR, CosineAnnealingLR, LinearLR, ConstantLR, PolynomialLR,
        ReduceLROnPlateau,
    )
}  # fmt: skip

SCHEDULE_PROPERTIES: dict[str, Callable[[Schedule], Any]] = {
    "last_epoch": lambda s: s.last_epoch,
    "base_lrs": lambda s: s.base_lrs,
    "optimizer": lambda s: s.optimizer,
}

SCHEDULE_METHODS: dict[str, Callable[..., Any]] = {"step": lambda s, *args, **kw: s.step(*args, **kw), "get_last_lr": Schedule.get_last_lr}
