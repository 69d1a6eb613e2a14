"""Names: imports, modules, attributes, hints."""

import pytest


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ny = torch.sin(torch.ones(2))",
        "import torch as t\ny = t.nn.functional.relu(t.ones(2))",
        "import torch.nn.functional as F\ny = F.softmax(tensor([1.0, 2.0]), dim=0)",
        "import torch.nn as nn\ny = nn.functional.relu(ones(2))",
        "import torch, math\ny = torch.ones(1) * math.pi",
        "import torch.linalg\ny = torch.linalg.det(torch.eye(2))",
        "import numpy as np\ny = np.sqrt(np.array([1.0, 4.0])) * np.pi",
        "from torch import sin, ones as one\ny = sin(one(2))",
        "from torch.autograd import Variable, Function, grad\ny = Variable(ones(2))",
        "from torch.autograd.function import once_differentiable\nfrom torch.autograd import grad",
        "from __future__ import annotations\nimport torch",
        "import torch\nfrom torch import nn\nF = nn.functional\ny = F.relu(torch.ones(1))",
        "y = sin(ones(2)) + pi + e",
        "import math\ny = math.sin(ones(2))",
        "def f():\n  import math\n  return math.pi\ny = f()",
    ],
)
def test_imports(text, run):
    run(text)


@pytest.mark.parametrize(
    ("text", "type_", "message", "hint"),
    [
        ("torch.ones(1)", "NameError", "name 'torch' is not defined", "import torch"),
        ("y = sigmiod(ones(2))", "NameError", "name 'sigmiod' is not defined", "'sigmoid'"),
        ("weights = 1\nwieghts + 1", "NameError", "name 'wieghts' is not defined", "'weights'"),
        ("import torch\ntorch.sinus(1)", "AttributeError", "module 'torch' has no attribute 'sinus'", "'sin'"),
        ("x = ones(2)\nx.gradient", "AttributeError", "'Tensor' object has no attribute 'gradient'", "'grad'"),
        ("from torch import sinus", "ImportError", "cannot import name 'sinus' from 'torch'", "'sin'"),
        ("import torch\ntorch.max_all(ones(1))", "AttributeError", "module 'torch' has no attribute 'max_all'", None),
        ("x = ones(2)\nx.shape = 3", "AttributeError", "attribute 'shape' of 'Tensor' objects is not writable", None),
        ("'a'.uper()", "AttributeError", "'str' object has no attribute 'uper'", "'upper'"),
        ("[].push(1)", "AttributeError", "'list' object has no attribute 'push'", None),
        ("print(torch)\nimport torch", "NameError", "name 'torch' is not defined", "import torch"),
    ],
)
def test_what_is_not_there(text, type_, message, hint, failure):
    error = failure(text)
    assert (error.type, error.message) == (type_, message)
    assert hint is None or hint in error.hint


def test_builtins_win_for_bare_names(printed):
    assert printed("print(abs(-1), sum([1, 2]), max(1, 2), round(1.5), all([1]), pow(2, 3))") == "1 3 2 2 True 8\n"


def test_types_print_as_pytorchs(printed):
    text = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 2\n"
    text += "print(type(x), type(y.grad_fn).__name__, type(x.shape), x.dtype, [x.dtype], isinstance(x, torch.Tensor), torch.float32)"
    expected = "<class 'torch.Tensor'> MulBackward0 <class 'torch.Size'> torch.float64 [torch.float64] True torch.float32\n"
    assert printed(text) == expected


def test_shapes_are_sizes(printed):
    text = "x = zeros(2, 3)\nprint(x.shape, x.size(), x.size(1), x.shape[0], x.shape[:1], len(x.shape), x.shape == (2, 3), x.shape.numel())"
    assert printed(text) == "torch.Size([2, 3]) torch.Size([2, 3]) 3 2 torch.Size([2]) 2 True 6\n"


def test_a_function_class(printed):
    text = """
    from torch.autograd import Function
    class Scale(Function):
        factor = 3
        @staticmethod
        def forward(ctx, x, k=2):
            ctx.k = k
            ctx.save_for_backward(x)
            return x * k * Scale.factor
        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return g * ctx.k * Scale.factor, None
    x = tensor(2.0, requires_grad=True)
    y = Scale.apply(x, 5)
    y.backward()
    print(y.item(), x.grad.item(), Scale.factor, type(y.grad_fn).__name__, Scale.__name__)
    """
    assert printed(text) == "30.0 15.0 3 ScaleBackward Scale\n"


def test_a_ctx_knows_only_what_was_put_there(failure):
    text = """
    from torch.autograd import Function
    class F(Function):
        @staticmethod
        def forward(ctx, x): return x * ctx.node
    F.apply(ones(1))
    """
    assert failure(text).type == "AttributeError"


def test_modes(printed):
    text = """
    import torch
    x = torch.ones(1, requires_grad=True)
    @torch.no_grad()
    def f(a): return (a * 2).requires_grad
    with torch.no_grad(), torch.enable_grad():
        y = x * 2
    with torch.no_grad():
        z = x * 2
    print(f(x), y.requires_grad, z.requires_grad, torch.is_grad_enabled())
    torch.set_grad_enabled(False)
    print((x * 2).requires_grad)
    """
    assert printed(text) == "False True False True\nFalse\n"


def test_modes_end_with_an_error(printed):
    text = "x = ones(1, requires_grad=True)\ntry:\n  with no_grad():\n    1 / 0\nexcept ZeroDivisionError: pass\n"
    assert printed(text + "print((x * 2).requires_grad)") == "True\n"


def test_equal_and_allclose(printed):
    text = "a = tensor([1.0, float('nan')])\nb = tensor([1.0, 2.0])\n"
    text += "print(equal(a, a), equal(b, b), b.equal(b + 1e-9), allclose(b, b + 1e-9), allclose(a, a), a.allclose(a, equal_nan=True))"
    assert printed(text) == "False True False True False True\n"


def test_seed(run):
    assert run("x = randn(2)", seed=3).scope["x"].value.tolist() == run("manual_seed(3)\nx = randn(2)").scope["x"].value.tolist()
