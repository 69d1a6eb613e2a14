"""Random programs in the common language of PyTorch and gradcli: operations, views, in-place writes, detach, hooks, passes.

A program prints what it sees as it goes: flags, versions, names of nodes, gradients, the beginnings of error messages.
Shapes are tracked, so that most statements succeed; what autograd forbids is tried too, inside try.
"""

from __future__ import annotations

import random

Shape = tuple[int, ...]

SHAPES: list[Shape] = [(), (2,), (3,), (2, 3), (3, 2), (2, 2), (1, 3)]
UNARY = ["sin", "cos", "tanh", "sigmoid", "relu", "abs", "neg", "square", "exp", "clone", "log1p", "sqrt"]
INPLACE_UNARY = ["sin_", "tanh_", "sigmoid_", "relu_", "abs_", "neg_", "exp_", "zero_", "cos_"]


def broadcast(a: Shape, b: Shape) -> Shape | None:
    out = []
    for k in range(1, max(len(a), len(b)) + 1):
        m, n = (a[-k] if k <= len(a) else 1), (b[-k] if k <= len(b) else 1)
        if m != n and 1 not in (m, n):
            return None
        out.append(max(m, n))
    return tuple(reversed(out))


def literal(rng: random.Random, shape: Shape) -> str:
    if not shape:
        return f"{rng.choice([-1, 1]) * (0.25 + round(rng.random() * 1.5, 3))}"
    return "[" + ", ".join(literal(rng, shape[1:]) for _ in range(shape[0])) + "]"


class Program:
    """One random program under construction."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines = ["import torch"]
        self.shapes: dict[str, Shape] = {}
        self.leaves: list[str] = []
        self.count = 0

    def source(self, length: int = 14) -> str:
        for _ in range(self.rng.randint(2, 3)):
            self.leaf()
        for _ in range(length):
            self.statement()
        self.go_backward()
        self.look()
        return "\n".join(self.lines) + "\n"

    # ---- parts

    def name(self, shape: Shape) -> str:
        self.count += 1
        made = f"v{self.count}"
        self.shapes[made] = shape
        return made

    def any(self) -> str:
        names = list(self.shapes)
        return self.rng.choice(names[-6:] if self.rng.random() < 0.7 else names)

    def result(self) -> str:
        """A variable that is no leaf, where there is one."""
        names = [n for n in self.shapes if n not in self.leaves]
        return self.rng.choice(names[-5:]) if names else self.any()

    def leaf(self) -> None:
        shape = self.rng.choice(SHAPES)
        made = self.name(shape)
        self.leaves.append(made)
        flag = "True" if self.rng.random() < 0.8 else "False"
        self.lines.append(f"{made} = torch.tensor({literal(self.rng, shape)}, requires_grad={flag})")

    def tried(self, *statements: str) -> None:
        """Statements that may fail: the beginning of the message is printed."""
        self.lines.append("try:")
        self.lines += [f"    {s}" for s in statements]
        self.lines += ["except RuntimeError as e:", "    print('error', str(e)[:42])"]

    def statement(self) -> None:
        kinds = [
            (self.unary, 5), (self.binary, 6), (self.view, 5), (self.write, 6), (self.reduce, 2), (self.detach, 2), (self.hook, 2),
            (self.go_backward, 2), (self.take_grad, 2), (self.look, 2), (self.without, 1), (self.retain, 1), (self.join, 1),
            (self.select, 1), (self.freeze, 0.5),
        ]  # fmt: skip
        self.rng.choices([k for k, _ in kinds], [w for _, w in kinds])[0]()

    # ---- statements

    def unary(self) -> None:
        source = self.any()
        op = self.rng.choice(UNARY)
        inner = f"{source}.abs()" if op in ("log1p", "sqrt") else f"{source}.tanh()" if op in ("exp", "square") else source
        self.assign(self.shapes[source], f"{inner}.{op}()")

    def assign(self, shape: Shape, expression: str) -> None:
        self.lines.append(f"{self.name(shape)} = {expression}")

    def other(self, shape: Shape, into: bool = False) -> tuple[str, Shape]:
        """A second operand that broadcasts with a shape (to that shape alone when `into`)."""
        fitting = [(n, s) for n, b in self.shapes.items() if (s := broadcast(shape, b)) is not None and (not into or s == shape)]
        if fitting and self.rng.random() < 0.75:
            return self.rng.choice(fitting)
        return self.rng.choice(["2", "0.5", "-1.5", "3."]), shape

    def binary(self) -> None:
        left = self.any()
        right, shape = self.other(self.shapes[left])
        op = self.rng.choice(["+", "-", "*", "*", "/", "**"])
        if op == "/":
            right = f"({right} * {right} + 1)"
        if op == "**":
            self.assign(self.shapes[left], f"{left} ** {self.rng.choice(['2', '3', '1'])}")
            return
        expression = f"{left} {op} {right}" if self.rng.random() < 0.8 or op == "/" else f"{right} {op} {left}"
        self.assign(shape, expression)

    def view(self) -> None:
        source = self.any()
        shape = self.shapes[source]
        size = 1
        for n in shape:
            size *= n
        choices: list[tuple[Shape, str]] = [((size,), f"{source}.reshape({size})"), ((1, *shape), f"{source}.unsqueeze(0)")]
        if shape:
            choices += [(shape[1:], f"{source}[{shape[0] - 1}]"), (shape[1:], f"{source}[0]")]
            choices.append(((shape[0] - 1, *shape[1:]), f"{source}[1:]"))
            choices.append(((2, *shape), f"{source}.expand(2, {', '.join(map(str, shape))})"))
        if len(shape) == 2:
            choices += [(shape[::-1], f"{source}.t()"), ((shape[0],), f"{source}[:, 0]"), ((min(shape),), f"{source}.diagonal()")]
        made, expression = self.rng.choice([c for c in choices if 0 not in c[0]] or choices[:2])
        self.assign(made, expression)

    def write(self) -> None:
        """An in-place write, often to something it may not be done to."""
        target = self.result() if self.rng.random() < 0.85 else self.any()
        shape = self.shapes[target]
        kind = self.rng.random()
        if kind < 0.3:
            self.tried(f"{target}.{self.rng.choice(INPLACE_UNARY)}()")
        elif kind < 0.6:
            right, _ = self.other(shape, into=True)
            self.tried(f"{target} {self.rng.choice(['+=', '-=', '*='])} {right}")
        elif kind < 0.75 and shape:
            value = self.rng.choice(["0.0", "1.5", f"{self.any()}.sum()"])
            index = self.rng.choice(["0", "1:", "...", f"{target} > 0", "[0]"])
            self.tried(f"{target}[{index}] = {value}")
        elif kind < 0.85:
            self.tried(f"{target}.copy_({self.other(shape, into=True)[0]} * torch.ones({list(shape)}))")
        else:
            right, _ = self.other(shape, into=True)
            self.tried(f"{target}.{self.rng.choice(['add_', 'mul_', 'sub_'])}({right})")

    def reduce(self) -> None:
        source = self.any()
        shape = self.shapes[source]
        if shape and self.rng.random() < 0.5:
            self.assign(shape[1:], f"{source}.{self.rng.choice(['sum', 'mean'])}(0)")
        else:
            self.assign((), f"{source}.{self.rng.choice(['sum', 'mean', 'max'])}()")

    def join(self) -> None:
        source = self.any()
        same = [n for n, s in self.shapes.items() if s == self.shapes[source]]
        picked = [source, self.rng.choice(same)]
        self.assign((2, *self.shapes[source]), f"torch.stack([{', '.join(picked)}])")

    def select(self) -> None:
        source = self.any()
        right, shape = self.other(self.shapes[source])
        if shape == self.shapes[source]:
            self.assign(shape, f"torch.where({source} > 0, {source} * 1., {right} * {source})")

    def detach(self) -> None:
        source = self.any()
        how = self.rng.choice(["detach()", "data", "detach().clone()"])
        self.assign(self.shapes[source], f"{source}.{how}")

    def hook(self) -> None:
        target = self.any()
        body = self.rng.choice([f"print('{target} hook', g.tolist())", "g * 2", "None"])
        # PyTorch 2.13 crashes when a hook is the first to look at a view whose base was written to.
        self.tried(f"{target}.grad_fn", f"{target}.register_hook(lambda g: {body})")

    def retain(self) -> None:
        target = self.any()
        self.tried(f"{target}.grad_fn", f"{target}.retain_grad()")

    def freeze(self) -> None:
        self.tried(f"{self.any()}.requires_grad_({self.rng.choice(['True', 'False'])})")

    def without(self) -> None:
        target = self.any()
        right, _ = self.other(self.shapes[target], into=True)
        self.lines.append("with torch.no_grad():")
        self.lines.append(f"    {target} {self.rng.choice(['*=', '+='])} {right if self.rng.random() < 0.5 else '0.5'}")
        if self.spread(target):
            self.lines[-2:] = []

    def spread(self, name: str) -> bool:
        """Whether a variable may be an expansion, which must not be written to outside try."""
        return any(line.startswith(f"{name} = ") and "expand" in line for line in self.lines) or name not in self.leaves

    def go_backward(self) -> None:
        source = self.result()
        keep = self.rng.choice(["True", "True", "False"])
        self.tried(f"({source} * {source}).sum().backward(retain_graph={keep})" if self.rng.random() < 0.5 else
                   f"{source}.sum().backward(retain_graph={keep})")  # fmt: skip
        self.grads()

    def grads(self) -> None:
        for leaf in self.leaves:
            self.lines.append(f"print('{leaf}', None if {leaf}.grad is None else {leaf}.grad.tolist())")

    def take_grad(self) -> None:
        source = self.result()
        inputs = [self.rng.choice(self.leaves), self.any()][: self.rng.randint(1, 2)]
        self.tried(
            f"gs = torch.autograd.grad({source}.sum() * 1., [{', '.join(inputs)}], retain_graph=True, "
            f"create_graph={self.rng.choice(['True', 'False'])}, allow_unused=True)",
            "print([None if g is None else [g.tolist(), g.requires_grad] for g in gs])",
        )

    def look(self) -> None:
        name = self.any()
        self.lines.append(
            f"print('{name}', {name}.requires_grad, {name}.is_leaf, {name}._version, {name}.tolist(), "
            f"None if {name}.grad_fn is None else {name}.grad_fn.name())"
        )


def program(seed: int) -> str:
    """The source of the program of a seed."""
    return Program(seed).source()
