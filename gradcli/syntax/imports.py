"""The import lines of the language: which modules there are. Nothing is ever imported for them."""

from __future__ import annotations

MODULES = frozenset(
    {
        "torch", "torch.autograd", "torch.autograd.function", "torch.autograd.functional", "torch.autograd.forward_ad",
        "torch.autograd.graph", "torch.fft", "torch.func", "torch.linalg", "torch.nn", "torch.nn.functional",
        "torch.nn.init", "torch.nn.parameter", "torch.nn.utils", "torch.cuda", "torch.backends",
        "torch.optim", "torch.optim.lr_scheduler",
        "torch.special", "torch.testing", "torch.utils", "torch.utils.checkpoint", "torchviz", "numpy", "numpy.linalg", "numpy.random",
        "math", "cmath", "copy", "collections", "functools", "typing", "__future__",
    }
)  # fmt: skip
"""`__future__` is taken and does nothing: annotations are never evaluated."""

SHOWN = (
    "import torch", "import torch.nn.functional as F", "import numpy as np", "import math", "from torch.autograd import Function",
    "from torch.utils.checkpoint import checkpoint", "from torchviz import make_dot",
)  # fmt: skip
"""The lines that an error lists."""


def unknown_module(module: str) -> tuple[str, str]:
    """Message and hint for an import of something that does not exist here."""
    return (
        f"import of {module!r} is not in the language",
        "nothing is imported; these lines name gradcli's own tables: " + "; ".join(SHOWN),
    )
