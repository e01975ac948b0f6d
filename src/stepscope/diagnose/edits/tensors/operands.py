"""Plans that write something after an operand: a conversion, a lost axis, a cut in the graph."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.edits.plans import Spans, appended, at, inner_of, span
from stepscope.diagnose.edits.syntax import Where, called_name_of, enclosing_statement

if TYPE_CHECKING:
    from stepscope.diagnose.edits.spans import Plan
    from stepscope.diagnose.source import SourceFile


def given(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """An argument of a call, by its name or its position."""
    for word in call.keywords:
        if word.arg == name:
            return word.value
    plain = not any(isinstance(one, ast.Starred) for one in call.args[: position + 1])
    return call.args[position] if plain and len(call.args) > position else None


def argument_appended(where: Where, position: int, name: str, text: str) -> Plan:
    """`.float()` after an argument of a call."""

    def make(file: SourceFile, node: ast.Call) -> Spans:
        found = given(node, position, name)
        return None if found is None else appended(file, found, text)

    return at(where, make, ast.Call)


def operand_appended(where: Where, number: int, text: str) -> Plan:
    """`.squeeze(-1)` after an operand of `a - b`, or an argument of `loss(a, b)`."""

    def make(file: SourceFile, node: Any) -> Spans:
        if isinstance(node, ast.BinOp):
            return appended(file, (node.left, node.right)[number], text)
        found = given(node, number, ("input", "target")[number]) if isinstance(node, ast.Call) else None
        return None if found is None else appended(file, found, text)

    return at(where, make, ast.expr)


def received_appended(where: Where, text: str) -> Plan:
    """After what a method is called on, or the first argument of a function: `x.float().sub(y)`."""

    def make(file: SourceFile, node: ast.Call) -> Spans:
        inner = inner_of(node)
        return None if inner is None else appended(file, inner, text)

    return at(where, make, ast.Call)


def last_added(where: Where, text: str) -> Plan:
    """`total += loss` becomes `total += loss.item()`; so for `total = total + loss`."""

    def make(file: SourceFile, node: Any) -> Spans:
        statement = enclosing_statement(file, node)
        if isinstance(statement, ast.AugAssign):
            return appended(file, statement.value, text)
        value = getattr(statement, "value", None)
        if isinstance(statement, ast.Assign) and isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            target = ast.unparse(statement.targets[0])
            sides = [one for one in (value.left, value.right) if ast.unparse(one) != target]
            return appended(file, sides[0], text) if len(sides) == 1 else None
        return None

    return at(where, make)


_POSITION = {"input": 0, "self": 0, "target": 1, "other": 1, "index": 1, "indices": 0}


def named_operand(where: Where, name: str, text: str) -> Plan:
    """Text after one operand of a call or an operator: the one that is written so, or that has this role."""

    def make(file: SourceFile, node: Any) -> Spans:
        if isinstance(node, ast.BinOp):
            sides: list[ast.expr] = [node.left, node.right]
        elif isinstance(node, ast.Call):
            sides = [*node.args, *(word.value for word in node.keywords)]
            method = node.func.value if isinstance(node.func, ast.Attribute) else None
            sides += [method] if method is not None and inner_of(node) is method else []
        else:
            return None
        plain = [one for one in sides if ast.unparse(one) == name]
        if not plain and name in _POSITION and isinstance(node, ast.Call) and len(node.args) > _POSITION[name]:
            plain = [node.args[_POSITION[name]]]
        return appended(file, plain[0], text) if plain else None

    return at(where, make, ast.expr)


def name_replaced(where: Where, name: str, text: str) -> Plan:
    """Text instead of the only use of a name in the statement at a place: `D(fake)` becomes `D(fake.detach())`."""

    def make(file: SourceFile, node: Any) -> Spans:
        statement = enclosing_statement(file, node)
        uses = [
            one
            for one in ast.walk(statement or node)
            if isinstance(one, ast.Name | ast.Attribute) and isinstance(one.ctx, ast.Load) and ast.unparse(one) == name
        ]
        return [span(file, uses[0], text)] if len(uses) == 1 else None

    return at(where, make)


def value_appended(where: Where, text: str) -> Plan:
    """Text after what the statement at a place assigns."""

    def make(file: SourceFile, node: Any) -> Spans:
        statement = enclosing_statement(file, node)
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        return None if value is None else appended(file, value, text)

    return at(where, make)


def collected(where: Where, text: str) -> Plan:
    """`losses.append(loss)` becomes `losses.append(loss.detach())`."""

    def make(file: SourceFile, node: Any) -> Spans:
        for one in [node, *ast.walk(enclosing_statement(file, node) or node)]:
            if isinstance(one, ast.Call) and called_name_of(one.func) == "append" and len(one.args) == 1:
                return appended(file, one.args[0], text)
        return None

    return at(where, make)
