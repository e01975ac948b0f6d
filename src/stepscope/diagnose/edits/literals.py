"""Where a value is really set: the literal behind a name, a config entry, a default or a command line option."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.edits.plans import argument, at, span
from stepscope.diagnose.edits.syntax import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.diagnose.edits.plans import Spans
    from stepscope.diagnose.edits.spans import Plan
    from stepscope.diagnose.edits.syntax import Where
    from stepscope.diagnose.source import Source, SourceFile

__all__ = ["literal_of", "set_argument", "set_value"]

_DEEP = 4


def set_argument(where: Where, position: int | None, name: str, value: str) -> Plan:
    """An argument of a call, changed where its value is written, be it a constant at the top of the file."""

    def plan(source: Source) -> Spans:
        found = find(source, where)
        if found is None or not isinstance(found[1], ast.Call):
            return None
        file, call = found
        given = given_argument(call, position, name)
        literal = None if given is None else literal_of(file, given)
        if literal is not None:
            return [span(file, literal, value)]
        return argument((file, call), position, name, value)(source)

    return plan


def set_value(where: Where, value: str) -> Plan:
    """An expression, changed where its value is written."""
    return at(where, lambda file, node: [span(file, literal_of(file, node) or node, value)], ast.expr)


def given_argument(call: ast.Call, position: int | None, name: str) -> ast.expr | None:
    for word in call.keywords:
        if word.arg == name:
            return word.value
    return call.args[position] if position is not None and len(call.args) > position else None


def literal_of(file: SourceFile, node: ast.expr, depth: int = _DEEP) -> ast.expr | None:
    """The one constant that gives an expression its value; None where there is none, or several."""
    if _is_literal(node):
        return node
    if not depth:
        return None
    found: Sequence[ast.expr] = ()
    if isinstance(node, ast.Name):
        found = _bound_to(file, node)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        found = _entries(file, str(node.slice.value))
    elif isinstance(node, ast.Attribute):
        found = [*_options(file, node.attr), *_fields(file, node)]
    return literal_of(file, found[0], depth - 1) if len(found) == 1 else None


def _is_literal(node: ast.AST) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant) and not isinstance(inner.value, str | bytes)


def _bound_to(file: SourceFile, name: ast.Name) -> list[ast.expr]:
    function = file.enclosing(name, ast.FunctionDef, ast.AsyncFunctionDef)
    parameters = (
        [] if function is None else [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    )
    places = [one.arg for one in parameters]
    if name.id in places:
        return _given(file, function, name.id, places.index(name.id))
    found = []
    for statement in file.walk(ast.Assign, ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            if isinstance(target, ast.Name) and target.id == name.id and statement.value is not None:
                found.append(statement.value)
            elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                pairs = zip(target.elts, statement.value.elts, strict=False)
                found += [value for one, value in pairs if isinstance(one, ast.Name) and one.id == name.id]
    return found


def _given(file: SourceFile, function: Any, name: str, position: int) -> list[ast.expr]:
    """What the calls of a function in this file give for a parameter; its default where none does."""
    in_class = isinstance(file.parents.get(function), ast.ClassDef)
    called = file.parents[function].name if in_class and function.name == "__init__" else function.name  # type: ignore[attr-defined]
    given = [given_argument(call, position - in_class, name) for call in file.calls(called)]
    found = [one for one in given if one is not None]
    if found:
        return found
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    named = [*plain[len(plain) - len(arguments.defaults) :], *arguments.kwonlyargs]
    pairs = zip(named, [*arguments.defaults, *arguments.kw_defaults], strict=True)
    defaults = {one.arg: value for one, value in pairs if value is not None}
    return [defaults[name]] if name in defaults else []


def _entries(file: SourceFile, key: str) -> list[ast.expr]:
    """Values under this key in dicts: `{"lr": 1}` and `dict(lr=1)`."""
    found = [
        value
        for one in file.walk(ast.Dict)
        for name, value in zip(one.keys, one.values, strict=True)
        if isinstance(name, ast.Constant) and name.value == key
    ]
    return found + [word.value for call in file.calls("dict") for word in call.keywords if word.arg == key]


def _options(file: SourceFile, name: str) -> list[ast.expr]:
    """Defaults of a command line option."""
    found = []
    for call in file.calls("add_argument", "option"):
        names = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if any(one.lstrip("-").replace("-", "_") == name for one in names):
            found += [word.value for word in call.keywords if word.arg == "default"]
    return found


def _fields(file: SourceFile, node: ast.Attribute) -> list[ast.expr]:
    """Fields of a config class, attributes of `self` and keywords of a namespace."""
    found = [
        value
        for holder in file.walk(ast.ClassDef)
        for one in holder.body
        if isinstance(one, ast.Assign | ast.AnnAssign) and (value := one.value) is not None
        for target in (one.targets if isinstance(one, ast.Assign) else [one.target])
        if isinstance(target, ast.Name) and target.id == node.attr
    ]
    for one in file.walk(ast.Assign):
        found += [one.value for target in one.targets if ast.unparse(target) == ast.unparse(node)]
    return found + [
        word.value
        for call in file.calls("SimpleNamespace", "Namespace")
        for word in call.keywords
        if word.arg == node.attr
    ]
