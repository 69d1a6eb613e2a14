"""The allow-list and the rules of the compiler are the same list."""

import ast

from gradcli.interpreter.arithmetic import BINARY, INPLACE
from gradcli.interpreter.compiler import EXPRESSIONS, STATEMENTS
from gradcli.interpreter.expressions import COMPARISONS, UNARY
from gradcli.syntax import constructs

BY_ITS_PARENT = {ast.Starred}
"""A star is unpacked by the call, display or target around it."""


def test_every_allowed_statement_has_a_rule():
    assert set(STATEMENTS) == constructs.STATEMENTS


def test_every_allowed_expression_has_a_rule():
    assert set(EXPRESSIONS) | BY_ITS_PARENT == constructs.EXPRESSIONS


def test_every_operator_has_a_meaning():
    assert set(BINARY) == set(INPLACE) == set(ast.operator.__subclasses__()) & constructs.PARTS
    assert set(UNARY) == set(ast.unaryop.__subclasses__()) & constructs.PARTS
    assert set(COMPARISONS) | {ast.In, ast.NotIn} == set(ast.cmpop.__subclasses__()) & constructs.PARTS
