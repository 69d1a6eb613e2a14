"""Text of an expression file -> checked tree."""

from __future__ import annotations

import ast
import re
import warnings

from gradcli.errors import TOO_MANY_DIGITS, LimitError, SourceError, SourceErrors, Span, too_many_digits
from gradcli.syntax import fpcore
from gradcli.syntax.allowlist import violations
from gradcli.syntax.directives import read_directives
from gradcli.syntax.formula import FormulaSource, formula_tree
from gradcli.syntax.nesting import HINT as NESTING_HINT
from gradcli.syntax.nesting import check_brackets, check_depth, too_deep
from gradcli.syntax.source import Source
from gradcli.syntax.structure import structure_errors
from gradcli.syntax.tree import Tree

NESTING = 500
PYTHON_LIMIT = "Python's own parser takes 200 nested brackets and 100 nested blocks"
FILE_SIZE = 2_000_000

HINTS: tuple[tuple[str, str], ...] = (
    (r"was never closed", "add the closing bracket"),
    (r"unmatched '(.)'", "remove it, or open it before"),
    (r"does not match opening", "close the brackets in the order in which they were opened"),
    (r"Maybe you meant '==' ", "write == to compare"),
    (r"unterminated .*string", "close the string with the quote that opened it"),
    (r"expected ':'", "end the line of the statement with a colon"),
    (r"expected an indented block", "indent the lines that belong to the statement, or write pass"),
    (r"unexpected indent", "begin the line at the column of the line before"),
    (r"unindent does not match", "indent with the columns that an outer block uses"),
    (r"inconsistent use of tabs", "indent with blanks only"),
    (r"Missing parentheses in call to 'print'", "write print(...)"),
    (r"leading zeros in decimal", "leave the zeros out"),
    (r"invalid character", "type the ASCII character instead"),
    (r"invalid non-printable character", "delete the invisible character"),
    (r"cannot assign to", "the left of = is a name, an item x[i] or an attribute"),
    (r"positional argument follows keyword", "put the arguments without a name first"),
    (r"forgot a comma", "put a comma between the items"),
)


def parse(source: Source, *, nesting: int = NESTING, file_size: int = FILE_SIZE) -> Tree:
    """The tree of a file.

    Raises SourceErrors with every violation, or LimitError when the file is too large or too deeply nested.
    """
    if len(source.text) > file_size:
        raise LimitError(f"limit reached: file size of {file_size} characters (--max-file-size {file_size})", hint="split the file")
    refuse_nul(source)
    if source.is_fpcore:
        return fpcore.whole_tree(source, nesting)
    check_brackets(source, nesting)
    module = python_tree(source, nesting)
    check_depth(module, source, nesting)
    directives, errors = read_directives(source)
    errors = [*structure_errors(module, source), *violations(module, source), *errors]
    if errors:
        raise SourceErrors(sorted(errors, key=lambda e: e.span or Span(0, 0, 0, 0)))
    return formula_tree(module, source) if isinstance(source, FormulaSource) else Tree(module, source, directives)


def parse_expression(text: str, *, nesting: int = NESTING) -> tuple[ast.expr, Source]:
    """The tree of one expression given on the command line; SourceErrors when it is none."""
    source = Source("<option>", text.strip())
    tree = parse(source, nesting=nesting)
    body = tree.module.body
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        raise SourceErrors([SourceError(f"not an expression: {text!r}", Span(1, 1, 1, len(text) + 1), type="SyntaxError")])
    return body[0].value, source


def refuse_nul(source: Source) -> None:
    position = source.text.find("\0")
    if position >= 0:
        line = source.text.count("\n", 0, position) + 1
        column = position - (source.text.rfind("\n", 0, position) + 1) + 1
        span = Span(line, column, line, column + 1)
        raise SourceErrors([SourceError("source code cannot contain null bytes", span, hint="save the file as text", type="SyntaxError")])


def python_tree(source: Source, nesting: int) -> ast.Module:
    """What Python's own parser makes of the text, its failures turned into ours."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source.text, filename=source.path)
    except SyntaxError as error:
        if error.msg.startswith("too many nested") or error.msg.startswith("too many levels"):
            raise LimitError("limit reached: " + PYTHON_LIMIT, syntax_span(error, source), hint=NESTING_HINT) from None
        if error.msg.startswith(TOO_MANY_DIGITS):
            raise too_many_digits(syntax_span(error, source)) from None
        raise SourceErrors([syntax_error(error, source)]) from None
    except (RecursionError, MemoryError):
        raise too_deep(None, nesting) from None
    except ValueError as error:
        raise SourceErrors([SourceError(str(error), None, type="SyntaxError")]) from None


def syntax_error(error: SyntaxError, source: Source) -> SourceError:
    message = error.msg
    hint = next((hint for pattern, hint in HINTS if re.search(pattern, message)), None)
    return SourceError(message, syntax_span(error, source), hint=hint, type="SyntaxError")


def syntax_span(error: SyntaxError, source: Source) -> Span:
    """Python's place of an error; it gives offset 0 or none where it does not know."""
    line = min(max(error.lineno or 1, 1), len(source.lines))
    column = max(error.offset or 1, 1)
    end_line = error.end_lineno or line
    end_column = error.end_offset or 0
    if end_line < line or (end_line == line and end_column <= column):
        end_line, end_column = line, column + 1
    return Span(line, column, end_line, end_column)
