"""Plans for calls on tensors: an axis, another function, an activation that does not belong there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.edits.loop import imports
from stepscope.diagnose.edits.plans import Spans, appended, at, inner_of, renamed, span
from stepscope.diagnose.edits.spans import Span
from stepscope.diagnose.edits.syntax import Where, called_name_of, enclosing_statement, find, text_of

if TYPE_CHECKING:
    from stepscope.diagnose.edits.spans import Plan
    from stepscope.diagnose.source import Source, SourceFile


def dim(where: Where, axis: int) -> Plan:
    """The axis of a reduction, a softmax or a normalization."""

    def make(file: SourceFile, node: ast.Call) -> Spans:
        from stepscope.diagnose.edits.plans import argument

        node = _built(file, node)
        known = next((word.arg for word in node.keywords if word.arg in ("dim", "axis")), None)
        name = known or "dim"
        function = node.func
        is_method = isinstance(function, ast.Attribute) and inner_of(node) is function.value
        is_class = isinstance(function, ast.Attribute | ast.Name) and called_name_of(function)[:1].isupper()
        position = 0 if is_method or is_class else 1
        if is_method is False and not is_class and _is_tensor_method(function, node):
            position = 0
        if called_name_of(function) == "normalize":
            return argument((file, node), None, name, str(axis))(None)  # type: ignore[arg-type]
        return argument((file, node), position, name, str(axis))(None)  # type: ignore[arg-type]

    return at(where, make, ast.Call)


def _built(file: SourceFile, call: ast.Call) -> ast.Call:
    """`nn.Softmax(dim=0)` of `self.softmax(x)`, where the file has it; else the call itself."""
    function = call.func
    if not isinstance(function, ast.Attribute) or ast.unparse(function.value) != "self":
        return call
    name = ast.unparse(function)
    made = [one.value for one in file.walk(ast.Assign) if any(ast.unparse(target) == name for target in one.targets)]
    is_layer = len(made) == 1 and isinstance(made[0], ast.Call) and called_name_of(made[0].func)[:1].isupper()
    return made[0] if is_layer else call


def _is_tensor_method(function: ast.expr, node: ast.Call) -> bool:
    """`output.max(0)`: a method whose first argument is a number."""
    first = node.args[0] if node.args else None
    number = first.operand if isinstance(first, ast.UnaryOp) else first
    return isinstance(function, ast.Attribute) and isinstance(number, ast.Constant) and isinstance(number.value, int)


def called(where: Where) -> Plan:
    """`model.eval` becomes `model.eval()`."""

    def make(file: SourceFile, node: Any) -> Spans:
        value = node.value if isinstance(node, ast.Expr) else node
        return appended(file, value, "()") if isinstance(value, ast.Attribute) else None

    return at(where, make)


def called_otherwise(where: Where, names: dict[str, str]) -> Plan:
    """A call of another function, by the name of the one that is called: {"nll_loss": "cross_entropy"}."""

    def plan(source: Source) -> Spans:
        found = find(source, where)
        if found is None or not isinstance(found[1], ast.Call):
            return None
        file, node = found
        new = names.get(called_name_of(node.func))
        if new is None or (isinstance(node.func, ast.Name) and not imports(file, new)):
            return None
        return renamed((file, node), new)(source)

    return plan


def left_out(where: Where) -> Plan:
    """An activation that does not belong there: `softmax(x)` becomes `x`, `nn.Softmax()` leaves its Sequential."""

    def make(file: SourceFile, node: ast.Call) -> Spans:
        if not called_name_of(node.func)[:1].isupper():
            inner = inner_of(node)
            return None if inner is None else [span(file, node, text_of(file, inner))]
        parent = file.parents.get(node)
        if isinstance(parent, ast.Assign) and isinstance(node.func, ast.Attribute):
            return [span(file, node, f"{text_of(file, node.func.value)}.Identity()")]
        if isinstance(parent, ast.Call) and parent.func is node and parent.args:  # nn.Softmax(dim=1)(x)
            return [span(file, parent, text_of(file, parent.args[0]))]
        items = parent.args if isinstance(parent, ast.Call) else getattr(parent, "elts", None)
        return None if not items or node not in items else _without_item(file, items, items.index(node))

    return at(where, make, ast.Call)


def _without_item(file: SourceFile, items: list[ast.expr], index: int) -> Spans:
    """One of several things between commas, with its comma; a line of its own goes with it."""
    node: Any = items[index]
    lines = file.text.split("\n")
    first, last = lines[node.lineno - 1], lines[(node.end_lineno or 1) - 1]
    rest = last.encode()[node.end_col_offset :].decode().strip()
    if not first.encode()[: node.col_offset].decode().strip() and (
        rest in ("", ",") or rest.startswith((", #", ",  #"))
    ):
        return [Span(file, (node.lineno, 0), ((node.end_lineno or 0) + 1, 0), "")]
    if index:
        before: Any = items[index - 1]
        return [Span(file, (before.end_lineno, before.end_col_offset), (node.end_lineno, node.end_col_offset), "")]
    if len(items) > 1:
        return [Span(file, (node.lineno, node.col_offset), (items[1].lineno, items[1].col_offset), "")]
    return None


def without_method(where: Where, names: tuple[str, ...]) -> Plan:
    """`loss.item()` or `x.data` becomes what it is taken of; the first of these names in the statement at a place."""

    def make(file: SourceFile, node: Any) -> Spans:
        for one in [*ast.walk(node), *ast.walk(enclosing_statement(file, node) or node)]:
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in names:
                return [span(file, one, text_of(file, one.func.value))]
            if isinstance(one, ast.Attribute) and one.attr in names and not isinstance(file.parents.get(one), ast.Call):
                return [span(file, one, text_of(file, one.value))]
        return None

    return at(where, make)


LOGS = {"softmax": "log_softmax", "Softmax": "LogSoftmax", "sigmoid": "logsigmoid"}
"""What gives the logarithm of what each of these gives."""


def unpacked_first(where: Where, parts: int) -> Plan:
    """`out = lstm(x)` becomes `out, _ = lstm(x)`, for a call that gives this many things."""

    def make(file: SourceFile, node: Any) -> Spans:
        statement = enclosing_statement(file, node)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or statement.value is not node:
            return None
        target = statement.targets[0]
        if not isinstance(target, ast.Name | ast.Attribute) or parts != 2:
            return None
        return [span(file, target, f"{text_of(file, target)}, _")]

    return at(where, make)


def on_device_of_input(where: Where) -> Plan:
    """`device=x.device` for a tensor that a module makes in `forward`, of what forward is given."""

    def plan(source: Source) -> Spans:
        from stepscope.diagnose.edits.plans import keyword

        found = find(source, where)
        if found is None or not isinstance(found[1], ast.Call):
            return None
        function = found[0].enclosing(found[1], ast.FunctionDef)
        if function is None or function.name != "forward" or len(function.args.args) < 2:
            return None
        return keyword(found, "device", f"{function.args.args[1].arg}.device")(source)

    return plan
