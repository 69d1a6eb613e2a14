"""The backward view against the graphs that torchviz 0.0.3 drew over torch 2.13.0: labels, fills, edges and how many of each."""

from __future__ import annotations

from collections import Counter

from gradcli.graph.build import build
from gradcli.graph.drawing import draw
from gradcli.graph.model import Graph, GraphNode
from gradcli.graph.options import Options
from gradcli.graph.palette import TORCHVIZ, role

from .conftest import run

BACKWARD = Options(view="backward", style="plain")


def backward(text: str, *outputs: str) -> Graph:
    done = run(text)
    assert done.error is None, done.error
    graph = build([(name, done.scope[name]) for name in outputs], done.scope, done.tree.source, tracer=done.tracer)
    return draw(graph, BACKWARD, stubs=False)


def label(node: GraphNode) -> str:
    """torchviz's label, with the name of a tensor left out where torchviz has none."""
    return node.op or f"{node.name if node.kind == 'leaf' else ''}{node.shape}"


def described(graph: Graph) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    known = graph.by_id()
    nodes = Counter((label(n), TORCHVIZ.get(role(n), "grey")) for n in graph.nodes)
    return nodes, Counter((label(known[e.source]), label(known[e.target])) for e in graph.edges)


def test_a_tensor_used_twice_has_two_edges() -> None:
    text = """
        x = tensor([[0., 1., 2.], [3., 4., 5.]], requires_grad=True)
        y = x + 2
        z = y * y * 3
        out = z.mean()
        """
    nodes, edges = described(backward(text, "out"))
    assert nodes == {
        ("()", "darkolivegreen1"): 1, ("MeanBackward0", "grey"): 1, ("MulBackward0", "grey"): 2, ("AddBackward0", "grey"): 1,
        ("AccumulateGrad", "grey"): 1, ("x(2, 3)", "lightblue"): 1,
    }  # fmt: skip
    assert edges == {
        ("x(2, 3)", "AccumulateGrad"): 1, ("AccumulateGrad", "AddBackward0"): 1, ("AddBackward0", "MulBackward0"): 2,
        ("MulBackward0", "MulBackward0"): 1, ("MulBackward0", "MeanBackward0"): 1, ("MeanBackward0", "()"): 1,
    }  # fmt: skip


def test_a_custom_function_has_the_name_of_its_class() -> None:
    text = """
        class Exp(Function):
            @staticmethod
            def forward(ctx, i):
                result = i.exp()
                ctx.save_for_backward(result, i)
                return result

            @staticmethod
            def backward(ctx, g):
                result, i = ctx.saved_tensors
                return g * result

        w = tensor([1., 2., 3.], requires_grad=True)
        o = Exp.apply(w).sum()
        """
    nodes, edges = described(backward(text, "o"))
    assert nodes == {
        ("()", "darkolivegreen1"): 1, ("SumBackward0", "grey"): 1, ("ExpBackward", "grey"): 1, ("AccumulateGrad", "grey"): 1,
        ("w(3,)", "lightblue"): 1,
    }  # fmt: skip
    assert edges == {
        ("w(3,)", "AccumulateGrad"): 1, ("AccumulateGrad", "ExpBackward"): 1, ("ExpBackward", "SumBackward0"): 1, ("SumBackward0", "()"): 1,
    }  # fmt: skip


def test_the_base_of_an_output_view_is_dotted_to_it() -> None:
    text = """
        a = tensor([1., 2.], requires_grad=True)
        b = tensor([3., 4.])
        c = cat([a * 2, b]).view(2, 2)
        d = c.sum()
        """
    graph = backward(text, "c", "d")
    nodes, edges = described(graph)
    assert nodes == {
        ("(2, 2)", "darkolivegreen1"): 1, ("()", "darkolivegreen1"): 1, ("(4,)", "darkolivegreen3"): 1, ("ViewBackward0", "grey"): 1,
        ("CatBackward0", "grey"): 1, ("MulBackward0", "grey"): 1, ("SumBackward0", "grey"): 1, ("AccumulateGrad", "grey"): 1,
        ("a(2,)", "lightblue"): 1,
    }  # fmt: skip
    assert edges == {
        ("a(2,)", "AccumulateGrad"): 1, ("AccumulateGrad", "MulBackward0"): 1, ("MulBackward0", "CatBackward0"): 1,
        ("CatBackward0", "ViewBackward0"): 1, ("ViewBackward0", "(2, 2)"): 1, ("CatBackward0", "(4,)"): 1, ("(4,)", "(2, 2)"): 1,
        ("ViewBackward0", "SumBackward0"): 1, ("SumBackward0", "()"): 1,
    }  # fmt: skip
    known = graph.by_id()
    assert [(label(known[e.source]), label(known[e.target])) for e in graph.edges if e.kind == "view"] == [("(4,)", "(2, 2)")]


def test_a_recorded_gradient_is_part_of_the_graph() -> None:
    text = """
        x = tensor(2., requires_grad=True)
        f = x**3
        g, = grad(f, x, create_graph=True)
        """
    graph = backward(text, "f", "g")
    for node in graph.nodes:
        # torch's number tells the overload (by a number, by a tensor), which is no matter of the picture
        node.op = node.op.rstrip("01")
    nodes, edges = described(graph)
    assert nodes == {
        ("()", "darkolivegreen1"): 2, ("PowBackward", "grey"): 2, ("MulBackward", "grey"): 2, ("AccumulateGrad", "grey"): 1,
        ("x()", "lightblue"): 1,
    }  # fmt: skip
    assert edges == {
        ("x()", "AccumulateGrad"): 1, ("AccumulateGrad", "PowBackward"): 2, ("PowBackward", "()"): 1,
        ("PowBackward", "MulBackward"): 1, ("MulBackward", "MulBackward"): 1, ("MulBackward", "()"): 1,
    }  # fmt: skip


def test_what_is_saved_does_not_recolour_where_it_came_from() -> None:
    text = """
        x = tensor([1., 2.], requires_grad=True)
        y = x + 2
        out = (y * y).sum()
        """
    done = run(text)
    graph = build([("out", done.scope["out"])], done.scope, done.tree.source, tracer=done.tracer)
    drawn = draw(graph, BACKWARD.but(saved="nodes"), stubs=False)
    notes = [n for n in drawn.nodes if n.kind == "saved"]
    assert [(n.id, n.name) for n in notes] == [("n2_s0", "self"), ("n2_s1", "other")]
    assert [n.kind for n in drawn.nodes if n.id == "n1"] == ["op"]


def test_writes_in_place_appear_as_torch_names_them() -> None:
    text = """
        x = tensor([1., 2.], requires_grad=True)
        y = x.clone()
        y[0] = 5
        y.mul_(2)
        """
    _, edges = described(backward(text, "y"))
    assert edges == {
        ("x(2,)", "AccumulateGrad"): 1, ("AccumulateGrad", "CloneBackward0"): 1, ("CloneBackward0", "CopySlices"): 1,
        ("CopySlices", "MulBackward0"): 1, ("MulBackward0", "(2,)"): 1,
    }  # fmt: skip
