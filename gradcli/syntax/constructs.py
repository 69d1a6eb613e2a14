"""Which constructs of Python are in the language, and what to say about those that are not."""

from __future__ import annotations

import ast

STATEMENTS: frozenset[type[ast.stmt]] = frozenset(
    {
        ast.AnnAssign, ast.Assert, ast.Assign, ast.AugAssign, ast.Break, ast.ClassDef, ast.Continue, ast.Delete, ast.Expr, ast.For,
        ast.FunctionDef, ast.If, ast.Import, ast.ImportFrom, ast.Pass, ast.Raise, ast.Return, ast.Try, ast.While, ast.With,
    }
)  # fmt: skip

EXPRESSIONS: frozenset[type[ast.expr]] = frozenset(
    {
        ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.Dict, ast.DictComp, ast.FormattedValue,
        ast.GeneratorExp, ast.IfExp, ast.JoinedStr, ast.Lambda, ast.List, ast.ListComp, ast.Name, ast.NamedExpr, ast.Set, ast.SetComp,
        ast.Slice, ast.Starred, ast.Subscript, ast.Tuple, ast.UnaryOp,
    }
)  # fmt: skip

PARTS: frozenset[type[ast.AST]] = frozenset(
    {
        ast.Module, ast.Load, ast.Store, ast.Del, ast.arguments, ast.arg, ast.keyword, ast.alias, ast.withitem, ast.comprehension,
        ast.ExceptHandler, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.LShift, ast.RShift,
        ast.BitOr, ast.BitXor, ast.BitAnd, ast.And, ast.Or, ast.Not, ast.Invert, ast.UAdd, ast.USub, ast.Eq, ast.NotEq, ast.Lt, ast.LtE,
        ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn,
    }
)  # fmt: skip

ALLOWED: frozenset[type[ast.AST]] = STATEMENTS | EXPRESSIONS | PARTS

REFUSED: dict[str, tuple[str, str]] = {
    "Global": ("'global'", "return the value, or keep it in a list or dict that the function changes"),
    "Nonlocal": ("'nonlocal'", "return the value, or keep it in a list or dict that the function changes"),
    "AsyncFunctionDef": ("'async def'", "write a plain def"),
    "AsyncFor": ("'async for'", "write a plain for"),
    "AsyncWith": ("'async with'", "write a plain with"),
    "Await": ("'await'", "call the function directly"),
    "Yield": ("'yield'", "collect the values in a list and return it"),
    "YieldFrom": ("'yield from'", "collect the values in a list and return it"),
    "Match": ("'match'", "write if/elif/else"),
    "TryStar": ("'except*'", "write except"),
    "TypeAlias": ("'type'", "leave the line out: types are not looked at"),
    "TemplateStr": ("a template string", "write an f-string"),
}
"""Statements and expressions by class name, since not every version of Python has all of them: what it is, what to write instead."""

FORBIDDEN_NAMES: dict[str, str] = {
    "eval": "write the expression itself",
    "exec": "write the statements themselves",
    "compile": "call the function as it is (torch.compile is there)",
    "open": "read numbers with load('data.csv') or load('data.npy')",
    "input": "give values with --set NAME=EXPR",
    "globals": "name the variable",
    "locals": "name the variable",
    "vars": "name the attribute",
    "dir": "see `gradcli ops` for what there is",
    "help": "see `gradcli ops` for what there is",
    "setattr": "assign to the attribute",
    "delattr": "use del",
    "super": "only class F(Function) with static forward and backward exists",
    "object": "only class F(Function) with static forward and backward exists",
    "classmethod": "use @staticmethod",
    "property": "only class F(Function) with static forward and backward exists",
    "breakpoint": "print the value",
    "exit": "leave the rest of the file out",
    "quit": "leave the rest of the file out",
    "memoryview": "use a tensor",
    "bytes": "use a string",
    "bytearray": "use a list",
}
"""Builtins of Python that are refused wherever the file does not bind the name itself."""

READABLE_DUNDERS = frozenset({"__name__"})
"""Attributes with double underscores that can be read: type(node).__name__."""


def is_dunder(name: str) -> bool:
    return name.startswith("__")
