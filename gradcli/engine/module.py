"""torch.nn.Module: something that is called, with parameters of its own and modules inside it."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gradcli.engine.function import Function
from gradcli.engine.hooks import RemovableHandle, register_node_hook, register_node_prehook
from gradcli.engine.inplace import inplace
from gradcli.engine.mode import recording
from gradcli.engine.parameters import PARAMETERS, is_parameter
from gradcli.engine.sharing import detach, variable
from gradcli.engine.tensor import Tensor, require_grad
from gradcli.engine.trees import OrderedDict
from gradcli.errors import ArgumentError, AutogradError, DtypeError, MissingAttributeError, MissingRuleError
from gradcli.ops.promotion import tensor_type
from gradcli.ops.structure import Copy


def parameter(data: Any = None, requires_grad: bool = True) -> Tensor:
    """torch.nn.Parameter: a leaf on the memory of a tensor."""
    if data is not None and not isinstance(data, Tensor):
        raise ArgumentError(f"Parameter(): argument 'data' must be Tensor, not {type(data).__name__}", hint="write torch.tensor(...)")
    if requires_grad and data is not None and not data.is_floating:
        raise DtypeError("Only Tensors of floating point and complex dtype can require gradients", hint="make it floating: .double()")
    made = variable(Tensor(np.empty(0)) if data is None else data, requires_grad)
    PARAMETERS[id(made)] = made
    return made


class IncompatibleKeys(namedtuple("IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    """What load_state_dict did not find, and what it had no place for."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"_{super().__repr__()}" if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"


def class_of(value: Any) -> str:
    """What messages about a wrong value call it."""
    return tensor_type(value) if isinstance(value, Tensor) else type(value).__name__


def indented(text: str) -> str:
    return text.replace("\n", "\n  ")


class Module:
    """Holds parameters, buffers (tensors that are no parameters) and modules by name; `forward` says what a call does."""

    name = "Module"

    def __init_subclass__(cls) -> None:
        cls.name = cls.__name__

    def __init__(self) -> None:
        self.training = True
        self.settings: dict[str, Any] = {}
        self.held: dict[str, Any] = {}
        self.buffered: dict[str, Tensor | None] = {}
        self.before: dict[int, Callable[..., Any]] = {}
        self.after: dict[int, Callable[..., Any]] = {}
        self.backward_hooks: dict[int, Callable[..., Any]] = {}
        self.before_backward: dict[int, Callable[..., Any]] = {}
        self.passing: set[str] = set()
        """Buffers that do not belong to the state_dict."""

    def forward(self, *inputs: Any) -> Any:
        raise MissingRuleError(f'Module [{self.name}] is missing the required "forward" function')

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        for hook in list(self.before.values()):
            changed = hook(self, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        watch = BackwardWatch(self) if self.backward_hooks or self.before_backward else None
        inputs = watch.enter(inputs) if watch else inputs
        result = self.forward(*inputs, **options)
        for hook in list(self.after.values()):
            changed = hook(self, inputs, result)
            if changed is not None:
                result = changed
        return watch.leave(result) if watch else result

    # ---- what it holds

    def names(self) -> dict[str, Any]:
        """What a program finds by name: settings, buffers, parameters, modules."""
        return {**self.settings, **self.buffered, **self.held}

    def assign(self, name: str, value: Any) -> None:
        """`module.name = value`."""
        if is_parameter(self.held.get(name)) and value is not None and not is_parameter(value):
            raise ArgumentError(
                f"cannot assign '{class_of(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)",
                hint="write torch.nn.Parameter(...), or change module.weight.data",
            )
        (self.buffered if name in self.buffered else self.held)[name] = value

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Hold a tensor that is no parameter; `persistent`: it belongs to the state_dict."""
        if tensor is not None and not isinstance(tensor, Tensor):
            raise ArgumentError(f"cannot assign '{class_of(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self.buffered[self.free(name)] = tensor
        if not persistent:
            self.passing.add(name)

    def register_parameter(self, name: str, param: Tensor | None) -> None:
        if param is not None and not is_parameter(param):
            raise ArgumentError(f"cannot assign '{class_of(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)")
        self.held[self.free(name)] = param

    def add_module(self, name: str, module: Module | None) -> None:
        if module is not None and not isinstance(module, Module):
            raise ArgumentError(f"{type(module).__name__} is not a Module subclass")
        self.held[self.free(name, "module ")] = module

    def free(self, name: str, what: str = "") -> str:
        """A name under which something can be held (KeyError)."""
        if "." in name:
            raise KeyError(f'{what}name can\'t contain "."' + (f", got: {name}" if what else ""))
        return name

    def get_submodule(self, target: str) -> Module:
        """The module inside that a path leads to."""
        module = self
        for step in target.split(".") if target else ():
            found = module.held.get(step)
            if not isinstance(found, Module):
                raise MissingAttributeError(f"{module.name} has no attribute `{step}`")
            module = found
        return module

    def get_parameter(self, target: str) -> Tensor:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not is_parameter(module.held.get(name)):
            raise MissingAttributeError(f"{module.name} has no attribute `{name}`")
        return module.held[name]  # type: ignore[no-any-return]

    def named_children(self) -> Iterator[tuple[str, Module]]:
        return ((name, value) for name, value in self.held.items() if isinstance(value, Module))

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """Itself and every module inside, outer ones first."""
        yield prefix, self
        for name, child in self.named_children():
            yield from child.named_modules(f"{prefix}.{name}" if prefix else name)

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Every parameter once, with its path."""
        seen: set[int] = set()
        for path, module in self.named_modules(prefix) if recurse else ((prefix, self),):
            for name, value in module.held.items():
                if is_parameter(value) and id(value) not in seen:
                    seen.add(id(value))
                    yield (f"{path}.{name}" if path else name), value

    def places(self) -> Iterator[tuple[str, Tensor]]:
        """Every parameter with what a program writes behind the module to reach it: `[0].weight`."""
        for path, value in self.named_parameters():
            yield "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in path.split(".")), value

    def parameters(self, recurse: bool = True) -> Iterator[Tensor]:
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        for path, module in self.named_modules():
            for name, value in module.buffered.items():
                if value is not None:
                    yield (f"{path}.{name}" if path else name), value

    # ---- what is done to it

    def train(self, mode: bool = True) -> Module:
        """Switch dropout and batch statistics on or off."""
        for _, module in self.named_modules():
            module.training = mode
        return self

    def to(self, *args: Any, **options: Any) -> Module:
        """Give every floating parameter and buffer another dtype."""
        for value in [*self.parameters(), *(b for _, b in self.named_buffers())]:
            if value.is_floating:
                value.data = value.data.to(*args, **options)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradient of every parameter."""
        for p in self.parameters():
            if p._grad is not None:
                p._grad = None if set_to_none else Tensor(np.zeros(p.shape, p.dtype))

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        for p in self.parameters():
            require_grad(p, requires_grad)
        return self

    def apply(self, function: Callable[[Module], Any]) -> Module:
        """Call a function with every module inside, inner ones first."""
        for _, child in self.named_children():
            child.apply(function)
        function(self)
        return self

    def state_dict(self) -> dict[str, Tensor]:
        """The values of all parameters and buffers, by path."""
        found: dict[str, Tensor] = OrderedDict()
        for path, module in self.named_modules():
            for name, value in [*module.held.items(), *module.buffered.items()]:
                if is_parameter(value) or (name in module.buffered and value is not None and name not in module.passing):
                    found[f"{path}.{name}" if path else name] = detach(value)
        return found

    def load_state_dict(self, state_dict: Mapping[str, Tensor], strict: bool = True) -> IncompatibleKeys:
        """Copy values into the parameters and buffers."""
        own, faults = self.state_dict(), []
        keys = IncompatibleKeys([k for k in own if k not in state_dict], [k for k in state_dict if k not in own])
        for what, names in (("Missing", keys.missing_keys), ("Unexpected", keys.unexpected_keys)) if strict else ():
            if names:
                listed = ", ".join(f'"{name}"' for name in names)
                faults.append(f"{what} key(s) in state_dict: {listed}. ")
        with recording(False):
            for name in (name for name in own if name in state_dict):
                if own[name].shape == state_dict[name].shape:
                    inplace(Copy(), own[name], state_dict[name])
                    continue
                theirs, mine = (f"torch.Size({list(t.shape)})" for t in (state_dict[name], own[name]))
                faults.append(
                    f"size mismatch for {name}: copying a param with shape {theirs} from checkpoint, the shape in current model is {mine}."
                )
        if faults:
            raise AutogradError(f"Error(s) in loading state_dict for {self.name}:\n\t" + "\n\t".join(faults))
        return keys

    def register_forward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, args, output)` after each call; what it returns replaces the output."""
        return RemovableHandle(self.after, hook)

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, args)` before each call; what it returns replaces the arguments."""
        return RemovableHandle(self.before, hook)

    def register_full_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` in backward; a tuple returned replaces grad_input."""
        return RemovableHandle(self.backward_hooks, hook)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, grad_output)` in backward before the module's own; what it returns replaces grad_output."""
        return RemovableHandle(self.before_backward, hook)

    # ---- how it shows

    def described(self) -> str:
        """What stands in the brackets of its text."""
        return ""

    def lines(self) -> list[str]:
        """What is told before the modules inside."""
        return [self.described()] if self.described() else []

    def __repr__(self) -> str:
        own, children = self.lines(), [indented(f"({name}): {child!r}") for name, child in self.named_children()]
        if not children and len(own) < 2:
            return f"{self.name}({''.join(own)})"
        return f"{self.name}(\n  " + "\n  ".join([*own, *children]) + "\n)"


class BackwardHookFunction(Function):
    """Passes tensors through, so that there is a node at which their gradients can be seen together."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads


class BackwardWatch:
    """One call of a module with backward hooks: nodes around it that see the gradients of what goes in and of what comes out."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.inputs: tuple[Any, ...] = ()
        self.grad_output: tuple[Any, ...] = ()
        self.asking = False

    def passed(self, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
        """The values with their tensors passed through a node, and the node."""
        tensors = [v for v in values if isinstance(v, Tensor)]
        if not any(t.asks for t in tensors):
            return values, None
        through = BackwardHookFunction.apply(*tensors)
        fresh = iter(through)
        return tuple(next(fresh) if isinstance(v, Tensor) else v for v in values), next(t.grad_fn for t in through if t.grad_fn is not None)

    def enter(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        self.inputs = inputs
        given, node = self.passed(inputs)
        if node is not None:
            self.asking = True
            register_node_hook(node, lambda grads, _: self.told(tuple(grads)))
        return given

    def leave(self, result: Any) -> Any:
        several = isinstance(result, tuple)
        outputs, node = self.passed(result if several else (result,))
        if node is not None:
            register_node_prehook(node, self.arrived)
        return outputs if several else outputs[0]

    def arrived(self, grads: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The gradients of what came out, before they go in; what is given replaces them."""
        self.grad_output, changed = tuple(grads), False
        for hook in list(self.module.before_backward.values()):
            found = hook(self.module, self.grad_output)
            if found is not None:
                self.grad_output, changed = found if isinstance(found, tuple) else (found,), True
        if not self.asking:
            self.told((None,) * len(self.inputs))
        return self.grad_output if changed else None

    def told(self, grad_input: tuple[Any, ...]) -> Any:
        changed = False
        for hook in list(self.module.backward_hooks.values()):
            found = hook(self.module, grad_input, self.grad_output)
            if found is not None:
                grad_input, changed = found if isinstance(found, tuple) else (found,), True
        return grad_input if changed else None
