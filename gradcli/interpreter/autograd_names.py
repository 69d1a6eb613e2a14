"""The names of the engine: tensors from data, modes, backward and grad, Function."""

from __future__ import annotations

from typing import Any

from gradcli.engine import anomaly, backward, forward_ad, functional, grad, mode, packing, transforms
from gradcli.engine.adaptive import OPTIMIZERS as ADAPTIVE
from gradcli.engine.checkpoint import checkpoint, checkpoint_sequential
from gradcli.engine.closeness import assert_close
from gradcli.engine.copying import copy, deepcopy
from gradcli.engine.edges import GradientEdge, get_gradient_edge, increment_version
from gradcli.engine.forward_ad import Dual
from gradcli.engine.function import Context, Function
from gradcli.engine.gradcheck import gradcheck, gradgradcheck
from gradcli.engine.hooks import register_multi_grad_hook
from gradcli.engine.node import Node
from gradcli.engine.once import once_differentiable
from gradcli.engine.optim import OPTIMIZERS
from gradcli.engine.printing import set_printoptions
from gradcli.engine.rows import grad_of_rows
from gradcli.engine.schedules import SCHEDULES
from gradcli.engine.sharing import variable
from gradcli.engine.tensor import Tensor
from gradcli.engine.torchviz import make_dot
from gradcli.interpreter.creation import CREATION
from gradcli.interpreter.from_data import legacy_tensor
from gradcli.interpreter.kinds import add_kind, tensor_kind
from gradcli.interpreter.leaves import FLOAT
from gradcli.interpreter.questions import TENSOR_QUESTIONS
from gradcli.interpreter.torch_names import TORCH_NAMES
from gradcli.interpreter.values import Kind

Members = dict[str, Any]

MODES: Members = {
    "no_grad": mode.no_grad,
    "enable_grad": mode.enable_grad,
    "set_grad_enabled": mode.set_grad_enabled,
    "inference_mode": mode.inference_mode,
}

TENSOR_KIND = tensor_kind(legacy_tensor)
add_kind(Dual, TENSOR_KIND)


VARIABLE = Kind("torch.autograd.variable.Variable", (Tensor,), variable)


def backward_of(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """torch.autograd.backward, without what is gradcli's own in the engine's."""
    backward(tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs)


def grad_of(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """torch.autograd.grad, without what is gradcli's own in the engine's."""
    function: Any = grad_of_rows if is_grads_batched else grad
    given = (grad_outputs, retain_graph, create_graph, only_inputs, allow_unused, materialize_grads)
    return function(outputs, inputs, *given)


# What Python calls them where an argument does not fit.
backward_of.__qualname__, grad_of.__qualname__ = "backward", "grad"

FUNCTIONAL = ("jacobian", "hessian", "vjp", "jvp", "hvp", "vhp")
FORWARD_AD = ("dual_level", "make_dual", "unpack_dual", "enter_dual_level", "exit_dual_level", "UnpackedDualTensor")
PACKING = ("saved_tensors_hooks", "save_on_cpu", "disable_saved_tensors_hooks", "allow_mutation_on_saved_tensors")


def compiled(function: Any = None, **options: Any) -> Any:
    """torch.compile: the function as it is, called or as a decorator."""
    return (lambda f: f) if function is None else function


def set_default_dtype(dtype: Any) -> None:
    """The default is float64 and stays so."""
    if dtype != FLOAT:
        mode.state.warn("the default dtype of gradcli is float64; give dtype=torch.float32 where single precision matters", UserWarning)


def is_floating_point(input: Tensor) -> bool:
    return input.dtype.kind == "f"


def is_complex(input: Tensor) -> bool:
    return input.dtype.kind == "c"


QUESTIONS: Members = {
    **TENSOR_QUESTIONS,
    "is_tensor": lambda value: isinstance(value, Tensor),
    "numel": lambda x: x.size_,
    "is_floating_point": is_floating_point,
    "is_complex": is_complex,
    "is_nonzero": bool,
    "is_grad_enabled": lambda: mode.state.grad,
    "is_inference_mode_enabled": lambda: mode.state.inference,
    "is_anomaly_enabled": anomaly.is_anomaly_enabled,
    "is_anomaly_check_nan_enabled": anomaly.is_anomaly_check_nan_enabled,
    "get_default_dtype": lambda: FLOAT,
    "set_default_dtype": set_default_dtype,
    "set_printoptions": set_printoptions,
}


def tensor_names() -> Members:
    """What the engine adds to `torch` itself."""
    return {**CREATION, **MODES, **QUESTIONS, **TORCH_NAMES, "Tensor": TENSOR_KIND, "compile": compiled}


def autograd_members() -> dict[str, Members]:
    """The modules around autograd, by their full names."""
    autograd = {
        **MODES, "backward": backward_of, "grad": grad_of, "Function": Function, "Variable": VARIABLE,
        "set_detect_anomaly": anomaly.set_detect_anomaly, "detect_anomaly": anomaly.detect_anomaly,
        "gradcheck": gradcheck, "gradgradcheck": gradgradcheck,
    }  # fmt: skip
    return {
        "torch.autograd": autograd,
        "torch.autograd.function": {
            "Function": Function,
            "InplaceFunction": Function,
            "once_differentiable": once_differentiable,
            "FunctionCtx": Kind("torch.autograd.function.FunctionCtx", (Context,)),
        },
        "torch.autograd.functional": {name: getattr(functional, name) for name in FUNCTIONAL},
        "torch.autograd.forward_ad": {name: getattr(forward_ad, name) for name in FORWARD_AD},
        "torch.autograd.graph": {
            **{name: getattr(packing, name) for name in PACKING},
            "Node": Kind("torch.autograd.graph.Node", (Node,)),
            "GradientEdge": Kind("torch.autograd.graph.GradientEdge", (GradientEdge,)),
            "get_gradient_edge": get_gradient_edge,
            "increment_version": increment_version,
            "register_multi_grad_hook": register_multi_grad_hook,
        },
        "torch.func": {name: getattr(transforms, name) for name in transforms.__all__},
        "torch.optim": {**OPTIMIZERS, **ADAPTIVE},
        "torch.optim.lr_scheduler": dict(SCHEDULES),
        "torch.testing": {"assert_close": assert_close},
        "copy": {"copy": copy, "deepcopy": deepcopy},
        "torch.utils": {},
        "torch.utils.checkpoint": {"checkpoint": checkpoint, "checkpoint_sequential": checkpoint_sequential},
        "torchviz": {"make_dot": make_dot},
    }
