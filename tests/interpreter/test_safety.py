"""A file from a stranger reaches nothing of the machine."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradcli.errors import GradcliError
from gradcli.interpreter import run_file
from gradcli.interpreter.limits import Limits
from gradcli.syntax import Source

ESCAPES = [
    "().__class__",
    "(1).__class__.__bases__[0].__subclasses__()",
    "print.__self__",
    "(lambda: 0).__globals__",
    "f = lambda: 0\nf.__code__",
    "type(1).mro()",
    "type(1).__subclasses__",
    "type('X', (), {})",
    "'{0.__class__}'.format(1)",
    "'{0[0]}'.format([1])",
    "'{x.real}'.format(x=1)",
    "'%(a)s' % {'a': print}\n'%s'.__mod__(1)",
    "f'{print.__self__}'",
    "getattr(1, '__class__')",
    "getattr(print, '__' + 'self__')",
    "hasattr(1, 5)",
    "import torch\ntorch.os",
    "import torch\ntorch.serialization",
    "import torch\ntorch.load('x')",
    "import numpy as np\nnp.load('x', allow_pickle=True)",
    "import math\nmath.__loader__",
    "import math\nmath.__spec__",
    "eval",
    "exec('1')",
    "open('/etc/passwd')",
    "__builtins__",
    "globals()",
    "load('/etc/passwd')",
    "load('../secret.csv')",
    "load('a\\0.csv')",
    "load('data.pkl')",
    "try:\n  1/0\nexcept Exception as e:\n  e.__traceback__.tb_frame",
    "try:\n  1/0\nexcept Exception as e:\n  e.with_traceback(None)",
    "def f(): pass\nf.gi_frame",
    "x = (i for i in range(3))\nx.gi_frame",
    "x = (i for i in range(3))\nx.send(None)",
    "from torch.autograd import Function\nFunction.mro()",
    "from torch.autograd import Function\nFunction.__subclasses__()",
    "from torch.autograd import Function\nclass F(Function): pass\nF.setup_context.func_globals",
    "x = tensor(1.0)\nx.array",
    "x = tensor(1.0)\nx.value",
    "x = tensor(1.0)\nx.__operation__",
    "x = tensor(1.0)\nx.trace.tensor",
    "x = tensor(1.0, requires_grad=True)\n(x * 2).grad_fn.op",
    "x = tensor(1.0, requires_grad=True)\n(x * 2).grad_fn.backward",
    "'a'.translate",
    "'a'.encode()",
    "'a'.maketrans",
    "str.format_map",
    "'a'.format_map({})",
    "(1).from_bytes(1)",
    "dict.fromkeys(range(10**9))",
    "class F(int): pass",
    "class F(type(1)): pass",
    "(lambda **k: k)(**{'__class__': 1})",
    "tensor(1.0).__dict__",
    "sorted([1], key=print.__init__)",
]


@pytest.mark.parametrize("text", ESCAPES)
def test_no_way_out(text):
    try:
        result = run_file(Source("f", text), limits=Limits(seconds=5))
    except GradcliError:
        return
    assert result.error is not None, "the attempt was let through"
    assert isinstance(result.error, GradcliError)


GREEDY = [
    ("while True: pass", "steps"),
    ("for i in range(10**18): pass", "steps"),
    ("x = 10**10**10", "integer"),
    ("x = 1 << 10**9", "integer"),
    ("x = 3\nwhile True: x = x * x", "integer"),
    ("x = 3\nwhile True: x *= x", "integer"),
    ("x = pow(7, 10**8)", "integer"),
    ("x = pow(7, 10**20000, 10**20000 + 1)", "integer"),
    ("import math\nmath.factorial(10**9)", "integer"),
    ("import math\nmath.comb(10**9, 10**8)", "integer"),
    ("x = 'a' * 10**10", "string"),
    ("x = 'a'\nwhile True: x = x + x", "string"),
    ("x = 'a'\nwhile True: x += x", "string"),
    ("x = 'a' * 10**6\nx.replace('a', x)", "string"),
    ("x = 'ab'.ljust(10**10)", "string"),
    ("f'{1:1000000000}'", "string"),
    ("'%1000000000d' % 1", "string"),
    ("'{:1000000000}'.format(1)", "string"),
    ("'{:{}}'.format(1, 10**9)", "string"),
    ("'{:.1000000000f}'.format(1.0)", "string"),
    ("x = [0] * 10**12", "steps"),
    ("x = [0]\nwhile True: x = x + x", "steps"),
    ("x = [0]\nwhile True: x += x", "steps"),
    ("x = [0]\nwhile True: x.extend(x)", "steps"),
    ("x = list(range(10**12))", "steps"),
    ("sum(range(10**12))", "steps"),
    ("max(range(10**12))", "steps"),
    ("print(*range(10**12))", "steps"),
    ("a, *b = range(10**12)", "steps"),
    ("all(i >= 0 for i in range(10**12))", "steps"),
    ("list(zip(range(10**12), range(10**12)))", "steps"),
    ("list(map(str, range(10**12)))", "steps"),
    ("10**12 in map(int, range(10**13))", "steps"),
    ("[i for i in range(10**12)]", "steps"),
    ("{i for i in range(10**12)}", "steps"),
    ("x = list(filter(lambda i: False, range(10**12)))", "steps"),
    ("next(i for i in range(10**12) if i < 0)", "steps"),
    ("'x'.join('a' for i in range(10**12))", "steps"),
    ("f = lambda n: f(n + 1)\nf(0)", "calls"),
    ("def f(n): return [f(n + 1)][0]\nf(0)", "calls"),
    ("def f(n): return sorted([1, 2], key=lambda k: f(n + 1))\nf(0)", "calls"),
    ("def f(n): return sum(f(n + 1) for i in range(1))\nf(0)", "calls"),
    ("def f(n): return [i for i in [1] if f(n + 1)]\nf(0)", "calls"),
    ("x = []\nfor i in range(100000): x = [x]\nprint(x)", "nesting"),
    ("x = []\ny = []\nfor i in range(100000):\n  x = [x]\n  y = [y]\nx == y", "nesting"),
    ("x = ()\nfor i in range(100000): x = (x,)\n{x: 1}", "nesting"),
    ("x = [1]\nfor i in range(60): x = [x, x]\nprint(x)", "steps"),
    ("x = [1]\ny = [1]\nfor i in range(60):\n  x = [x, x]\n  y = [y, y]\nx == y", "steps"),
    ("x = (1,)\nfor i in range(60): x = (x, x)\nhash(x)", "steps"),
    ("x = [1]\nfor i in range(60): x = [x, x]\nsorted([x, x])", "steps"),
    ("z = range(3)\nfor i in range(100000): z = (x for x in z)\nlist(z)", "nesting"),
    ("z = range(3)\nfor i in range(100000): z = map(str, z)\nlist(z)", "nesting"),
    ("z = range(3)\nfor i in range(100000): z = enumerate(z)\nlist(z)", "nesting"),
    ("x = ()\nfor i in range(100000): x = (x,)\nisinstance(1, x)", "nesting"),
    ("x = []\nfor i in range(100000): x = [x]\nmax(x, x)", "nesting"),
    ("x = []\ne = ValueError(x)\ny = x\nfor i in range(100000):\n  y.append([])\n  y = y[0]\nprint(e)", "nesting"),
    ("while True: print('x' * 1000)", "printed"),
    ("import torch\ntorch.zeros(10**12)", "tensor"),
    ("import torch\ntorch.ones(10**6, 10**6)", "tensor"),
    ("import torch\ntorch.eye(10**6)", "tensor"),
    ("import torch\ntorch.arange(10**12)", "tensor"),
    ("import torch\ntorch.full((10**5, 10**5), 1.0)", "tensor"),
    ("x = []\nwhile True:\n  x.append('a' * 1000)", "steps"),
    ("tensor(range(10**12))", "tensor"),
]


@pytest.mark.parametrize(("text", "word"), GREEDY)
def test_limits_hold_before_the_machine_suffers(text, word):
    steps = 50_000 if word == "steps" else 400_000
    result = run_file(Source("f", text), limits=Limits(steps=steps, output=100_000, seconds=20))
    assert result.error is not None
    assert result.error.type == "LimitError", (result.error.type, result.error.message)
    assert word in result.error.message


def test_a_limit_cannot_be_caught():
    text = "try:\n  while True: pass\nexcept Exception:\n  print('caught')\nfinally:\n  print('no')"
    result = run_file(Source("f", text), limits=Limits(steps=1000))
    assert result.error.type == "LimitError"
    assert result.output == ""


def test_what_graph_nodes_keep_counts_as_held():
    text = "x = ones(1000, requires_grad=True)\ny = x\nfor i in range(250): y = y.sin()"
    assert "--max-elements" in run_file(Source("f", text), limits=Limits(elements=100_000)).error.message
    run_file(Source("f", text.replace(", requires_grad=True", "")), limits=Limits(elements=100_000))


def test_a_message_that_is_too_deep_is_not_shown():
    text = "x = []\nfor i in range(100000): x = [x]\nraise ValueError(x)"
    assert "too deep" in run_file(Source("f", text)).error.message


def test_wall_time_inside_one_operation():
    """An operation that works on and on without a step of the program is interrupted."""
    text = "x = [3.0] * 300_000\nwhile True: x.count(tensor(1.0))"
    result = run_file(Source("f", text), limits=Limits(steps=10**12, seconds=0.2))
    assert "--max-seconds" in result.error.message


def test_wall_time():
    result = run_file(Source("f", "while True: pass"), limits=Limits(steps=10**12, seconds=0.3))
    assert "--max-seconds" in result.error.message


SEED = """
import torch
def f(x, *y, k=2, **z):
    if x > 1:
        return [a for a in range(k) if a]
    return {'a': (x, y)}
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x
s = 'text %s' % f(1)
with torch.no_grad():
    for i, j in zip([1, 2], [3, 4]):
        s += f'{i:>{j}}'
try:
    raise ValueError(s)
except ValueError as e:
    print(e, f(2), tensor([1.0, 2.0]).shape)
"""
PIECES = ["(", ")", "[", "]", ":", "\n", " ", "*", "=", ".", "x", "1", "'", "def ", "lambda ", "e", "0", ",", "torch", "%", "{", "}"]


@settings(max_examples=3 * settings().max_examples)
@given(st.lists(st.tuples(st.integers(0, len(SEED)), st.integers(0, 6), st.sampled_from(PIECES)), min_size=1, max_size=3))
def test_mutated_programs_only_fail_with_our_errors(edits):
    text = SEED
    for position, length, piece in edits:
        text = text[:position] + piece + text[position + length :]
    with contextlib.suppress(GradcliError):
        run_file(Source("f", text), limits=Limits(steps=100_000, seconds=5))
