"""Plans for the changes that most fixes are made of: a statement added, moved or removed, an argument, a call."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.edits.spans import Plan, Span
from stepscope.diagnose.edits.syntax import Where, block_of, enclosing_statement, find, is_atom, text_of

if TYPE_CHECKING:
    from stepscope.diagnose.source import Source, SourceFile

Spans = Sequence[Span] | None
At = Callable[["SourceFile", Any], Spans]


def at(where: Where, make: At, kind: type[ast.AST] | tuple[type[ast.AST], ...] = ast.AST) -> Plan:
    """The change that `make` works out for the node at a place, if it is of this kind."""

    def plan(source: Source) -> Spans:
        found = find(source, where)
        return make(*found) if found is not None and isinstance(found[1], kind) else None

    return plan


def both(*plans: Plan) -> Plan:
    """All of them together; nothing where one of them cannot be made."""

    def plan(source: Source) -> Spans:
        made = [one(source) for one in plans]
        return None if any(not spans for spans in made) else [span for spans in made for span in spans or ()]

    return plan


def first_of(*plans: Plan) -> Plan:
    """The first that can be made."""

    def plan(source: Source) -> Spans:
        return next((spans for one in plans if (spans := one(source))), None)

    return plan


def in_method(plan_it: Plan, where: Where) -> Plan:
    """Only where `self` is known."""

    def plan(source: Source) -> Spans:
        found = find(source, where)
        function = None if found is None else found[0].enclosing(found[1], ast.FunctionDef)
        has_self = function is not None and bool(function.args.args) and function.args.args[0].arg == "self"
        return plan_it(source) if has_self else None

    return plan


# -- expressions ---------------------------------------------------------------------------------------------------


def span(file: SourceFile, node: Any, text: str) -> Span:
    return Span(file, (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset), text)


def replace(where: Where, text: str | Callable[[SourceFile, Any], str | None]) -> Plan:
    """Another expression (or statement) in its place."""

    def make(file: SourceFile, node: Any) -> Spans:
        new = text if isinstance(text, str) else text(file, node)
        return None if new is None else [span(file, node, new)]

    return at(where, make)


def append(where: Where, text: str) -> Plan:
    """`.detach()` after an expression, which is put in parentheses where it must be."""
    return at(where, lambda file, node: appended(file, node, text), ast.expr)


def appended(file: SourceFile, node: Any, text: str) -> Spans:
    end = (node.end_lineno, node.end_col_offset)
    if is_atom(node):
        return [Span(file, end, end, text)]
    start = (node.lineno, node.col_offset)
    return [Span(file, start, start, "("), Span(file, end, end, ")" + text)]


def unwrap(where: Where) -> Plan:
    """`softmax(x, dim=1)` or `x.softmax(1)` becomes `x`; of `nn.Softmax(dim=1)(x)` too."""

    def make(file: SourceFile, node: Any) -> Spans:
        inner = inner_of(node)
        return None if inner is None else [span(file, node, text_of(file, inner))]

    return at(where, make, ast.Call)


_WITH_DIM = ("softmax", "log_softmax")
_PACKAGES = ("F", "torch", "nn", "functional", "np", "numpy", "math", "special")


def inner_of(call: ast.Call) -> ast.expr | None:
    """What a call is applied to: the object of a method, else the first argument."""
    function = call.func
    is_method = isinstance(function, ast.Attribute) and not _is_module(function)
    if is_method and (not call.args or function.attr in _WITH_DIM):  # type: ignore[attr-defined]
        return function.value  # type: ignore[attr-defined,no-any-return]
    if call.args and not isinstance(call.args[0], ast.Starred):
        return call.args[0]
    return next((word.value for word in call.keywords if word.arg in ("input", "x")), None)


def _is_module(function: ast.Attribute) -> bool:
    """`self.softmax(x)`, `F.softmax(x)`: not a method of a tensor."""
    owner = ast.unparse(function.value).rpartition(".")[2]
    return owner == "self" or owner in _PACKAGES


def swap(where: Where, first: int = 0, second: int = 1) -> Plan:
    """Two positional arguments of a call change places."""

    def make(file: SourceFile, node: ast.Call) -> Spans:
        words = {word.arg: word.value for word in node.keywords}
        given: list[ast.expr] = list(node.args)
        if len(given) <= second and {"input", "target"} <= set(words):
            given = [words["input"], words["target"]]
        if len(given) <= max(first, second) or any(isinstance(one, ast.Starred) for one in given):
            return None
        one, other = given[first], given[second]
        return [span(file, one, text_of(file, other)), span(file, other, text_of(file, one))]

    return at(where, make, ast.Call)


def keyword(where: Where, name: str, value: str) -> Plan:
    """A keyword argument of a call, added or given another value."""
    return argument(where, None, name, value)


def argument(where: Where, position: int | None, name: str, value: str) -> Plan:
    """The argument at this position or of this name, given another value; added by name where it is missing."""

    def make(file: SourceFile, node: ast.Call) -> Spans:
        if any(isinstance(one, ast.Starred) for one in node.args):
            return None
        for word in node.keywords:
            if word.arg == name:
                return [span(file, word.value, value)]
        if position is not None and len(node.args) > position:
            return [span(file, node.args[position], value)]
        if any(word.arg is None for word in node.keywords):
            return None
        given: list[Any] = [*node.args, *node.keywords]
        last = max(given, key=lambda one: (one.end_lineno, one.end_col_offset), default=None)
        if last is None:
            end = (node.end_lineno or 0, (node.end_col_offset or 1) - 1)
            return [Span(file, end, end, f"{name}={value}")]
        end = (last.end_lineno or 0, last.end_col_offset or 0)
        if isinstance(last, ast.GeneratorExp) and len(node.args) == 1:
            return None
        return [Span(file, end, end, f", {name}={value}")]

    return at(where, make, ast.Call)


def not_keyword(where: Where, name: str) -> Plan:
    """A call without one of its keyword arguments."""

    def make(file: SourceFile, node: ast.Call) -> Spans:
        given: list[Any] = [*node.args, *node.keywords]
        items = sorted(given, key=lambda one: (one.lineno, one.col_offset))
        for index, one in enumerate(items):
            if isinstance(one, ast.keyword) and one.arg == name:
                end = (one.end_lineno or 0, one.end_col_offset or 0)
                if index:
                    before_it = items[index - 1]
                    return [Span(file, (before_it.end_lineno or 0, before_it.end_col_offset or 0), end, "")]
                if len(items) > 1:
                    return [Span(file, (one.lineno, one.col_offset), (items[1].lineno, items[1].col_offset), "")]
                return [Span(file, (one.lineno, one.col_offset), end, "")]
        return None

    return at(where, make, ast.Call)


def renamed(where: Where, name: str) -> Plan:
    """A call of another function with the same arguments: the last part of its name."""

    def make(file: SourceFile, node: ast.Call) -> Spans:
        end = (node.func.end_lineno or 0, node.func.end_col_offset or 0)
        if isinstance(node.func, ast.Attribute):
            return [Span(file, (end[0], end[1] - len(node.func.attr.encode())), end, name)]
        return [span(file, node.func, name)] if isinstance(node.func, ast.Name) else None

    return at(where, make, ast.Call)


def call_replaced(where: Where, make: Callable[[SourceFile, ast.Call], str | None]) -> Plan:
    """A call replaced by what is made of its pieces."""

    def changed(file: SourceFile, node: ast.Call) -> Spans:
        new = make(file, node)
        return None if new is None else [span(file, node, new)]

    return at(where, changed, ast.Call)


# -- statements ----------------------------------------------------------------------------------------------------


def before(where: Where, text: str) -> Plan:
    """Statements before the one that has the place, indented like it."""
    return at(where, lambda file, node: before_statement(file, enclosing_statement(file, node), text))


def after(where: Where, text: str) -> Plan:
    """Statements after the one that has the place, indented like it."""
    return at(where, lambda file, node: after_statement(file, enclosing_statement(file, node), text))


def before_statement(file: SourceFile, statement: ast.stmt | None, text: str) -> Spans:
    if statement is None:
        return None
    line = first_line(statement)
    lead = _lead(file, line, statement.col_offset)
    start = (line, statement.col_offset)
    if lead.strip():  # after a semicolon, or behind a colon
        return None if "\n" in text else [Span(file, start, start, f"{text}; ")]
    return [Span(file, (line, 0), (line, 0), textwrap.indent(text, lead) + "\n")]


def after_statement(file: SourceFile, statement: ast.stmt | None, text: str) -> Spans:
    if statement is None:
        return None
    last, column = statement.end_lineno or statement.lineno, statement.end_col_offset or 0
    lead = _lead(file, first_line(statement), statement.col_offset)
    rest = _line(file, last)[column:].decode("utf-8", "replace").strip()
    if lead.strip() or (rest and not rest.startswith("#")):
        return None if "\n" in text else [Span(file, (last, column), (last, column), f"; {text}")]
    if last >= len(file.text.split("\n")):  # the last line has no end
        return [Span(file, (last, column), (last, column), "\n" + textwrap.indent(text, lead))]
    return [Span(file, (last + 1, 0), (last + 1, 0), textwrap.indent(text, lead) + "\n")]


def remove(where: Where) -> Plan:
    """Leave the statement out that has the place; a block that would be empty gets `pass`."""
    return at(where, lambda file, node: removed(file, enclosing_statement(file, node)))


def removed(file: SourceFile, statement: ast.stmt | None) -> Spans:
    if statement is None:
        return None
    block = block_of(file, statement)
    if len(block) == 1 and not isinstance(file.parents.get(statement), ast.Module):
        return [span(file, statement, "pass")]
    index = block.index(statement)
    previous = block[index - 1] if index else None
    following = block[index + 1] if index + 1 < len(block) else None
    first, last = first_line(statement), statement.end_lineno or statement.lineno
    if previous is not None and previous.end_lineno == first:
        return [Span(file, (first, previous.end_col_offset or 0), (last, statement.end_col_offset or 0), "")]
    if following is not None and following.lineno == last:
        return [Span(file, (first, statement.col_offset), (following.lineno, following.col_offset), "")]
    return [Span(file, (first, 0), (last + 1, 0), "")]


def move_before(where: Where, other: Where) -> Plan:
    """The statement at `where` goes before the one at `other`."""
    return _moved(where, other, before_statement)


def move_after(where: Where, other: Where) -> Plan:
    """The statement at `where` goes after the one at `other`."""
    return _moved(where, other, after_statement)


def _moved(where: Where, other: Where, put: Callable[[SourceFile, ast.stmt | None, str], Spans]) -> Plan:
    def plan(source: Source) -> Spans:
        here, there = find(source, where), find(source, other)
        if here is None or there is None or here[0] is not there[0]:
            return None
        file = here[0]
        statement, target = enclosing_statement(file, here[1]), enclosing_statement(file, there[1])
        if statement is None or target is None or statement is target:
            return None
        if statement in file.up(target):
            return None
        gone, put_back = removed(file, statement), put(file, target, own_text(file, statement))
        return None if gone is None or put_back is None else [*gone, *put_back]

    return plan


def own_text(file: SourceFile, statement: ast.stmt) -> str:
    """A statement as it is written, without its indentation, with the comment behind it."""
    lead = _lead(file, first_line(statement), statement.col_offset)
    if lead.strip():
        return text_of(file, statement)
    lines = file.text.split("\n")[first_line(statement) - 1 : statement.end_lineno]
    rest = _line(file, statement.end_lineno or 0)[statement.end_col_offset or 0 :].decode("utf-8", "replace").strip()
    if rest.startswith(";"):
        return text_of(file, statement)
    return textwrap.dedent("\n".join(lines)).rstrip()


def first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _line(file: SourceFile, number: int) -> bytes:
    lines = file.text.split("\n")
    return lines[number - 1].encode() if 0 < number <= len(lines) else b""


def _lead(file: SourceFile, line: int, column: int) -> str:
    return _line(file, line)[:column].decode("utf-8", "replace")
