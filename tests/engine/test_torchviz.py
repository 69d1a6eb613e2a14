"""The drawings of make_dot, against graphs that torchviz 0.0.3 made (labels, fills and arrows; ids are free)."""

import re
from collections import Counter

import pytest

from gradcli.interpreter.limits import Limits
from gradcli.interpreter.program import Program
from gradcli.syntax.parser import parse
from gradcli.syntax.source import Source

NODE = re.compile(r'^\t(n\d+) \[label=("(?:[^"]|\\")*"|\w+)(?: fillcolor=(\w+))?\]$', re.MULTILINE)
EDGE = re.compile(r"^\t(n\d+) -> (n\d+)(?: \[(.*)\])?$", re.MULTILINE)


def drawing(source: str) -> str:
    run = Program(parse(Source("program", "from torchviz import make_dot\nimport torch\n" + source)), Limits()).run()
    assert run.error is None, run.error
    return str(run.scope["dot"].source)


def parts(dot: str) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str, str]]]:
    """Nodes as (label, fill), a redeclared one by its last words, and arrows between labels."""
    nodes = {m[1]: (m[2].strip('"'), m[3] or "") for m in NODE.finditer(dot)}
    edges = [m.groups() for m in EDGE.finditer(dot)]
    first = {key: label.split("\n")[0] + (nodes[key][0] if label.startswith("\n") else "") for key, (label, _) in nodes.items()}
    return Counter(nodes.values()), Counter((first[a], first[b], style or "") for a, b, style in edges)


def test_a_node_used_twice_is_drawn_once_with_two_arrows() -> None:
    nodes, edges = parts(
        drawing("x = torch.ones(2, 3, requires_grad=True)\ny = x + 2\nz = y * y * 3\nout = z.mean()\ndot = make_dot(out, params={'x': x})")
    )
    assert nodes == Counter(
        {
            ("\n ()", "darkolivegreen1"): 1, ("MeanBackward0", ""): 1, ("MulBackward0", ""): 2, ("AddBackward0", ""): 1,
            ("AccumulateGrad", ""): 1, ("x\n (2, 3)", "lightblue"): 1,
        }
    )  # fmt: skip
    assert sum(edges.values()) == 7
    assert edges["AddBackward0", "MulBackward0", ""] == 2


def test_attributes_and_saved_tensors() -> None:
    dot = drawing(
        "x = torch.ones(2, 3, requires_grad=True)\ny = x + 2\nz = y * y * 3\nout = z.mean()\n"
        "dot = make_dot(out, params={'x': x}, show_attrs=True, show_saved=True)"
    )
    assert '"MeanBackward0\n----------------------\nself_sym_numel:      6\nself_sym_sizes: (2, 3)"' in dot
    assert "other: [saved tensor]" in dot
    assert "self :           None" in dot
    assert "alpha: 1" in dot
    assert 'label="other\n ()" fillcolor=orange' in dot
    assert dot.count("dir=none") == 3
    assert dot.count("orange") == 3, "y is one tensor, declared once for each place that keeps it"


def test_tensors_saved_by_a_user_function_are_always_drawn() -> None:
    nodes, edges = parts(
        drawing(
            """
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        result = w.exp()
        ctx.save_for_backward(result, w)
        return result
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]
w = torch.ones(3, requires_grad=True)
dot = make_dot(Exp.apply(w).sum(), params={'w': w})
"""
        )
    )
    assert nodes[("w\n (3)", "orange")] == 1
    assert nodes[("\n (3)", "orange")] == 1
    assert sum(style == "dir=none" for _, _, style in edges) == 2


def test_a_view_stands_over_its_base() -> None:
    nodes, edges = parts(
        drawing(
            "a = torch.ones(2, requires_grad=True)\nb = torch.ones(2)\nc = torch.cat([a * 2, b]).view(2, 2)\nd = c.sum()\n"
            "dot = make_dot((c, d), params={'a': a, 'b': b})"
        )
    )
    assert nodes[("\n (4)", "darkolivegreen3")] == 1
    assert nodes[("\n (2, 2)", "darkolivegreen1")] == 1
    assert sum(nodes.values()) == 9
    assert sum(count for edge, count in edges.items() if edge[2] == "style=dotted") == 1
    assert sum(edges.values()) == 9


def test_second_order_nodes_share_their_leaf() -> None:
    nodes, edges = parts(
        drawing(
            "x = torch.tensor(2.0, requires_grad=True)\nf = x ** 3\ng, = torch.autograd.grad(f, x, create_graph=True)\n"
            "dot = make_dot((f, g), params={'x': x})"
        )
    )
    assert nodes[("PowBackward0", "")] == 2
    assert nodes[("MulBackward0", "")] == nodes[("MulBackward1", "")] == 1
    assert nodes[("AccumulateGrad", "")] == 1
    assert sum(edges.values()) == 7


def test_depth_is_no_limit_and_ids_are_stable() -> None:
    source = "h = x = torch.tensor(0.5, requires_grad=True)\nfor k in range(3000):\n    h = h + 1\ndot = make_dot(h)"
    first, second = drawing(source), drawing(source)
    assert first == second
    assert first.count("AddBackward0") == 3000


def test_saved_tensors_of_a_freed_graph_are_refused() -> None:
    source = "import torch\nfrom torchviz import make_dot\nx = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\ny.backward()\n"
    run = Program(parse(Source("p", source + "make_dot(y, show_saved=True)")), Limits()).run()
    assert run.error is not None
    assert "second time" in run.error.message


@pytest.mark.parametrize("argument", ["[y]", "{'y': y}", "3"])
def test_other_arguments_are_refused(argument: str) -> None:
    source = f"import torch\nfrom torchviz import make_dot\ny = torch.ones(2, requires_grad=True) * 2\nmake_dot({argument})"
    run = Program(parse(Source("p", source)), Limits()).run()
    assert run.error is not None
    assert run.error.type == "TypeError"
