"""Plans for arithmetic: a sign, a division, an argument kept where its function is finite."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.edits.plans import Spans, appended, at, inner_of, span
from stepscope.diagnose.edits.spans import Span
from stepscope.diagnose.edits.syntax import Where, called_name_of, enclosing_statement, find, text_of
from stepscope.diagnose.edits.tensors.operands import given

if TYPE_CHECKING:
    from stepscope.diagnose.edits.spans import Plan
    from stepscope.diagnose.source import Source, SourceFile


def negated(where: Where) -> Plan:
    """With a minus before it; without, where there is one."""

    def make(file: SourceFile, node: Any) -> Spans:
        parent = file.parents.get(node)
        if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub):
            return [Span(file, (parent.lineno, parent.col_offset), (node.lineno, node.col_offset), "")]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            start = (node.operand.lineno, node.operand.col_offset)
            return [Span(file, (node.lineno, node.col_offset), start, "")]
        text = text_of(file, node)
        tight = isinstance(node, ast.Call | ast.Name | ast.Attribute | ast.Subscript)
        return [span(file, node, f"-{text}" if tight else f"-({text})")]

    return at(where, make, ast.expr)


def received_divided(where: Where, by: int) -> Plan:
    """`loss.backward()` becomes `(loss / 4).backward()`."""

    def make(file: SourceFile, node: ast.Call) -> Spans:
        if not isinstance(node.func, ast.Attribute):
            return None
        value = node.func.value
        text = text_of(file, value)
        simple = isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        return [span(file, value, f"({text} / {by})" if simple else f"(({text}) / {by})")] if simple else None

    return at(where, make, ast.Call)


def compared_with_zero(where: Where) -> Plan:
    """`logits > 0.5` becomes `logits > 0`; `logits.round()` becomes `(logits > 0).float()`."""

    def make(file: SourceFile, node: Any) -> Spans:
        if (
            isinstance(node, ast.Compare)
            and len(node.comparators) == 1
            and isinstance(node.comparators[0], ast.Constant)
        ):
            return [span(file, node.comparators[0], "0")]
        if isinstance(node, ast.Call) and called_name_of(node.func) == "round":
            inner = inner_of(node)
            return None if inner is None else [span(file, node, f"({text_of(file, inner)} > 0).float()")]
        return None

    return at(where, make, ast.expr)


_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def not_in_place(where: Where) -> Plan:
    """`x += y` becomes `x = x + y`, which makes a new tensor."""

    def make(file: SourceFile, node: Any) -> Spans:
        statement = enclosing_statement(file, node)
        if not isinstance(statement, ast.AugAssign) or not isinstance(statement.target, ast.Name):
            return None
        sign = _SIGNS.get(type(statement.op))
        if sign is None:
            return None
        value = text_of(file, statement.value)
        value = (
            value if isinstance(statement.value, ast.Name | ast.Attribute | ast.Call | ast.Constant) else f"({value})"
        )
        name = statement.target.id
        return [span(file, statement, f"{name} = {name} {sign} {value}")]

    return at(where, make)


def sign_turned(where: Where) -> Plan:
    """`a - b` becomes `a + b`, and the other way round; anything else is negated."""

    def plan(source: Source) -> Spans:
        found = find(source, where)
        if found is None:
            return None
        file, node = found
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            sign = "-" if isinstance(node.op, ast.Add) else "+"
            return [span(file, node, f"{text_of(file, node.left)} {sign} {text_of(file, node.right)}")]
        return negated((file, node))(source)

    return plan


def true_division(where: Where) -> Plan:
    """`a // b` becomes `a / b`."""

    def make(file: SourceFile, node: Any) -> Spans:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.FloorDiv):
            return None
        between = _between(file, node.left, node.right)
        return [span(file, node, f"{text_of(file, node.left)}{between.replace('//', '/')}{text_of(file, node.right)}")]

    return at(where, make, ast.expr)


def _between(file: SourceFile, left: Any, right: Any) -> str:
    """The text from the end of one expression to the beginning of another, on one line."""
    if left.end_lineno != right.lineno:
        return " // "
    line: bytes = file.text.split("\n")[right.lineno - 1].encode()
    return line[left.end_col_offset : right.col_offset].decode()


def kept_away(where: Where, op: str) -> Plan:
    """The argument of a logarithm, a root or a division kept where it is finite."""

    def make(file: SourceFile, node: Any) -> Spans:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and op in _DIVISIONS:
            divisor = text_of(file, node.right)
            simple = isinstance(node.right, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
            inner = divisor if simple else f"({divisor})"
            return [span(file, node.right, f"({inner} + 1e-8)")]
        if not isinstance(node, ast.Call) or called_name_of(node.func) not in _SAFE:
            return None
        argument = inner_of(node)
        return None if argument is None else appended(file, argument, _SAFE[called_name_of(node.func)])

    return at(where, make, ast.expr)


_DIVISIONS = ("div", "true_divide", "divide", "reciprocal_mul")


_SAFE = {
    "log": ".clamp_min(1e-8)",
    "log2": ".clamp_min(1e-8)",
    "log10": ".clamp_min(1e-8)",
    "sqrt": ".clamp_min(1e-8)",
    "rsqrt": ".clamp_min(1e-8)",
    "acos": ".clamp(-1 + 1e-6, 1 - 1e-6)",
    "asin": ".clamp(-1 + 1e-6, 1 - 1e-6)",
    "arccos": ".clamp(-1 + 1e-6, 1 - 1e-6)",
    "arcsin": ".clamp(-1 + 1e-6, 1 - 1e-6)",
    "atanh": ".clamp(-1 + 1e-6, 1 - 1e-6)",
}


def halved_exponent(where: Where) -> Plan:
    """`torch.exp(logvar)` becomes `torch.exp(0.5 * logvar)`."""

    def make(file: SourceFile, node: ast.Call) -> Spans:
        inner = inner_of(node)
        if inner is None or called_name_of(node.func) != "exp":
            return None
        text = text_of(file, inner)
        simple = isinstance(inner, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        new = f"0.5 * {text}" if simple else f"0.5 * ({text})"
        is_method = isinstance(node.func, ast.Attribute) and inner is node.func.value
        return [span(file, inner, f"({new})" if is_method else new)]

    return at(where, make, ast.Call)


def inverted_mask(where: Where) -> Plan:
    """`tokens != PAD` becomes `tokens == PAD`; `masked_fill(mask, v)` becomes `masked_fill(mask == 0, v)`."""

    def make(file: SourceFile, node: Any) -> Spans:
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            sign = "!=" if isinstance(node.ops[0], ast.Eq) else "=="
            return [span(file, node, f"{text_of(file, node.left)} {sign} {text_of(file, node.comparators[0])}")]
        if isinstance(node, ast.Call) and called_name_of(node.func) in ("masked_fill", "masked_fill_"):
            mask = given(node, 0, "mask")
            simple = isinstance(mask, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
            return [span(file, mask, f"{text_of(file, mask)} == 0")] if mask is not None and simple else None
        return None

    return at(where, make, ast.expr)
