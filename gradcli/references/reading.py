"""Generated code, read back and evaluated without Python's own `eval`: a handful of constructs, a table of functions."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
MATH_WORDS = (
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp expm1 log log1p log2 log10 sqrt cbrt fabs floor ceil pow hypot "
    "erf erfc gamma lgamma copysign pi e"
)
NUMPY_WORDS = (
    "sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh exp expm1 log log1p log2 log10 sqrt cbrt abs sign "
    "floor ceil power maximum minimum array pi e"
)
C_CONSTANTS = {
    "M_PI": math.pi, "M_E": math.e, "M_SQRT2": math.sqrt(2), "M_SQRT1_2": math.sqrt(0.5), "M_LN2": math.log(2), "M_LN10": math.log(10),
    "M_PI_2": math.pi / 2, "M_PI_4": math.pi / 4, "M_1_PI": 1 / math.pi, "M_2_PI": 2 / math.pi, "M_2_SQRTPI": 2 / math.sqrt(math.pi),
}  # fmt: skip
MATH: dict[str, Any] = {name: getattr(math, name) for name in MATH_WORDS.split()}
NUMPY: dict[str, Any] = {name: getattr(np, name) for name in NUMPY_WORDS.split()}
C: dict[str, Any] = {**MATH, **C_CONSTANTS, "tgamma": math.gamma}


class Unreadable(Exception):
    """A construct that is not among those that the writers write."""


def run_python(text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The variables of a generated Python function after its last line."""
    function = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    variables: dict[str, Any] = {"math": MATH, "np": NUMPY, **arguments}
    for statement in function.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            variables[statement.targets[0].id] = value(statement.value, variables)
    return variables


def run_c(text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The variables of a generated C function; an array that it fills is a dict by index."""
    variables: dict[str, Any] = {**C, **arguments}
    for line in text.splitlines():
        found = re.fullmatch(r"    (?:const double )?(\w+)(?:\[(\d+)\])? = (.*);", line)
        if found is None:
            continue
        result = value(ast.parse(found[3].strip(), mode="eval").body, variables)
        if found[2] is None:
            variables[found[1]] = result
        else:
            variables.setdefault(found[1], {})[int(found[2])] = result
    return variables


def value(node: ast.expr, variables: Mapping[str, Any]) -> Any:
    """The value of an expression."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return variables[node.id]
        case ast.Attribute(value=ast.Name(id=module)):
            return variables[module][node.attr]
        case ast.BinOp():
            return OPERATORS[type(node.op)](value(node.left, variables), value(node.right, variables))
        case ast.UnaryOp(op=ast.USub()):
            return -value(node.operand, variables)
        case ast.UnaryOp(op=ast.UAdd()):
            return value(node.operand, variables)
        case ast.Call():
            return value(node.func, variables)(*[value(argument, variables) for argument in node.args])
        case ast.Subscript():
            return value(node.value, variables)[value(node.slice, variables)]
        case ast.Tuple() | ast.List():
            items = [value(item, variables) for item in node.elts]
            return tuple(items) if isinstance(node, ast.Tuple) else items
        case ast.Compare(ops=[op], comparators=[right]):
            return COMPARISONS[type(op)](value(node.left, variables), value(right, variables))
        case ast.IfExp():
            return value(node.body if value(node.test, variables) else node.orelse, variables)
    raise Unreadable(ast.unparse(node))


def derivative(text: str, language: str, name: str, point: Mapping[str, np.ndarray]) -> np.ndarray:
    """What generated code gives for one leaf; for C a flat array."""
    if language == "c":
        given: dict[str, Any] = {k: v.ravel().tolist() if v.shape else float(v) for k, v in point.items()}
        filled = run_c(text, given)[f"d_{name}"]
        return np.array([filled[k] for k in range(len(filled))], dtype=float)
    given = {k: (v if language == "numpy" else v.tolist()) if v.shape else float(v) for k, v in point.items()}
    return np.asarray(run_python(text, given)[f"d_{name}"], dtype=float)
