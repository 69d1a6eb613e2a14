"""The modes of the engine: one object that says how operations are recorded right now."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from gradcli.engine.printing import Options, Printing
from gradcli.engine.storage import Storage
from gradcli.engine.version import UNTRACKED, Version
from gradcli.errors import Span
from gradcli.ops.chance import chance
from gradcli.ops.notice import notice

if TYPE_CHECKING:
    from gradcli.engine.trace import Tracer

F = TypeVar("F", bound=Callable[..., Any])


class State:
    """What every operation consults. One per process: programs run one after the other."""

    __slots__ = (
        "anomaly", "charge", "counter", "frame", "generator", "grad", "inference", "keep_graph", "levels", "mapping", "ruling",
        "seed", "sequence", "span", "storage", "sweep", "tracer", "warn", "warned",
    )  # fmt: skip

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Back to how a fresh program starts."""
        self.grad = True
        self.span: Span | None = None
        self.tracer: Tracer | None = None
        self.keep_graph = False
        self.storage: Storage | None = None
        """Numbers of another kind for a whole run."""
        self.anomaly: Anomaly | None = None
        self.inference = False
        self.counter: Version | None = None
        """The version that new tensors get; None: one of their own, when it is asked for."""
        self.frame: Any = None
        """The checkpointed block that runs now."""
        self.sweep: Any = None
        """The backward pass that runs now."""
        self.ruling = False
        """A derivative rule runs and is recorded: PyTorch's rules multiply by numbers with operations of their own."""
        self.levels = 0
        """How many transforms of torch.func run, one inside the other."""
        self.mapping = False
        """torch.vmap runs."""
        self.sequence = 0
        self.warned: set[tuple[str, int]] = set()
        Printing.options = Options()
        self.seeded(0)
        self.charge: Callable[[int], None] = _no_charge
        """Called with the number of elements before they are allocated; raises LimitError past a limit."""
        self.warn: Callable[[str, type[Warning]], None] = _python_warning

    def seeded(self, seed: int) -> None:
        """Begin the random numbers of a seed."""
        self.seed = seed
        self.generator: np.random.Generator | None = None

    @property
    def rng(self) -> np.random.Generator:
        """Made when first asked for: few programs draw, and NumPy's random numbers take long to import."""
        if self.generator is None:
            self.generator = np.random.default_rng(self.seed)
        return self.generator

    def warn_once(self, kind: str, message: str, category: type[Warning] = UserWarning) -> None:
        """Warn at the first time that a source line gives cause to."""
        key = (kind, self.span.line if self.span is not None else 0)
        if key not in self.warned:
            self.warned.add(key)
            self.warn(message, category)


class Anomaly(NamedTuple):
    """Anomaly detection is on; `check_nan`: a NaN in a gradient is an error."""

    check_nan: bool


def _no_charge(elements: int) -> None:
    """Outside a run nothing limits what is held."""


def _python_warning(message: str, category: type[Warning]) -> None:
    warnings.warn(message, category, stacklevel=3)


state = State()
chance.source = lambda: state.rng
notice.tell = lambda message: state.warn_once(message, message)


class GradMode:
    """A context manager, also a decorator, that switches gradient recording: `with no_grad():`, `@no_grad()`."""

    def __init__(self, enabled: bool, inference: bool | None = None) -> None:
        self.enabled = enabled
        self.inference = inference
        self.previous: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self.previous.append((state.grad, state.inference))
        state.grad = self.enabled
        if self.inference is not None:
            set_inference(self.inference)

    def __exit__(self, *exception: object) -> None:
        state.grad, inference = self.previous.pop()
        if self.inference is not None:
            set_inference(inference)

    def __call__(self, function: F) -> F:
        def switched(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.enabled, self.inference):
                return function(*args, **kwargs)

        switched.__name__ = switched.__qualname__ = getattr(function, "__name__", "function")
        return switched  # type: ignore[return-value]


def set_inference(mode: bool) -> None:
    state.inference = mode
    state.counter = UNTRACKED if mode else None


def no_grad(orig_func: Any = None) -> Any:
    """Record nothing inside the block, or inside the function that it decorates."""
    return GradMode(False) if orig_func is None else GradMode(False)(orig_func)


def enable_grad(orig_func: Any = None) -> Any:
    """Record inside the block, also within no_grad."""
    return GradMode(True) if orig_func is None else GradMode(True)(orig_func)


class set_grad_enabled(GradMode):  # noqa: N801 - PyTorch's name
    """Switches at once when called, and back at the end of the block if used as one."""

    def __init__(self, mode: bool, inference: bool | None = None) -> None:
        super().__init__(bool(mode), inference)
        self.before = state.grad
        state.grad = self.enabled

    def __enter__(self) -> None:
        self.previous.append((self.before, state.inference))
        state.grad = self.enabled

    def __call__(self, function: F) -> F:
        state.grad = self.before
        return super().__call__(function)


def is_grad_enabled() -> bool:
    return state.grad


def is_inference_mode_enabled() -> bool:
    return state.inference


def inference_mode(mode: Any = True) -> Any:
    """no_grad whose tensors can never enter a graph."""
    return GradMode(False, True)(mode) if callable(mode) else GradMode(not mode, mode)


@contextmanager
def recording(enabled: bool) -> Iterator[None]:
    """Set gradient recording for a stretch of gradcli's own work."""
    before, state.grad = state.grad, enabled
    try:
        yield
    finally:
        state.grad = before
