"""Where a value is really set: the literal behind a name, a config entry, a default or a command line option."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.edits.plans import argument, span
from stepscope.diagnose.edits.syntax import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.diagnose.edits.plans import Spans
    from stepscope.diagnose.edits.spans import Plan
    from stepscope.diagnose.edits.syntax import Where
    from stepscope.diagnose.source import Source, SourceFile

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


def given_argument(call: ast.Call, position: int | None, name: str) -> ast.expr | None:
    for word in call.keywords:
        if word.arg == name:
            return word.value
    return call.args[position] if position is not None and len(call.args) > position else None


def literal_of(file: SourceFile, node: ast.expr) -> ast.expr | None:
    """The one constant that gives an expression its value; None where there is none, or several."""
    end = written_at(file, node)
    return end if _is_literal(end) else None


def written_at(file: SourceFile, node: ast.expr, value: object = None, depth: int = _DEEP) -> ast.expr:
    """The expression that gives another its value, be it a constant or a computation.

    It is followed through names, arguments, config entries and options as long as the way is clear. Where several
    constants are possible, the one with the known `value` is meant.
    """
    if not depth or _is_literal(node):
        return node
    found: Sequence[ast.expr] = ()
    if isinstance(node, ast.Name):
        found = _bound_to(file, node)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        found = _entries(file, str(node.slice.value))
    elif isinstance(node, ast.Attribute):
        found = [*_options(file, node.attr), *_fields(file, node)] or _properties(file, node.attr)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        found = _lengths(file, written_at(file, node.args[0]))
    ends = list({id(end): end for one in found for end in [written_at(file, one, value, depth - 1)]}.values())
    if len(ends) > 1 and value is not None:
        ends = [end for end in ends if isinstance(end, ast.Constant) and end.value == value]
    return ends[0] if len(ends) == 1 else node


def constant_near(file: SourceFile, node: ast.AST, value: object, depth: int = 2) -> ast.expr | None:
    """The constant of this value that a name in an expression stands for, looked for behind its names."""
    later: list[ast.expr] = []
    for name in ast.walk(node):
        if not isinstance(name, ast.Name) or not isinstance(name.ctx, ast.Load):
            continue
        end = written_at(file, name, value)
        if isinstance(end, ast.Constant) and end.value == value:
            return end
        later += _bound_to(file, name)
    found = (constant_near(file, one, value, depth - 1) for one in later if depth)
    return next((one for one in found if one is not None), None)


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


def _lengths(file: SourceFile, made: ast.expr) -> list[ast.expr]:
    """What `__len__` returns, of an object of one of this file's classes."""
    called = made.func.id if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) else ""
    methods = [
        method
        for holder in file.walk(ast.ClassDef)
        if holder.name == called
        for method in holder.body
        if isinstance(method, ast.FunctionDef) and method.name == "__len__"
    ]
    return [one.value for method in methods for one in _nodes(method, ast.Return) if one.value is not None]


def _properties(file: SourceFile, name: str) -> list[ast.expr]:
    """What the one property of this name returns."""
    found = [
        method
        for method in file.walk(ast.FunctionDef)
        if method.name == name
        and any(isinstance(one, ast.Name) and one.id == "property" for one in method.decorator_list)
    ]
    returned = [one.value for method in found for one in _nodes(method, ast.Return) if one.value is not None]
    return returned if len(found) == len(returned) == 1 else []


def _nodes(holder: ast.AST, kind: type[ast.AST]) -> list[Any]:
    return [one for one in ast.walk(holder) if isinstance(one, kind)]


def _fields(file: SourceFile, node: ast.Attribute) -> list[ast.expr]:
    """Fields of a config class, attributes of `self` and keywords of a namespace."""
    mine = file.enclosing(node, ast.ClassDef) if ast.unparse(node).startswith("self.") else None
    found = []
    for holder in file.walk(ast.ClassDef) if mine is None else (mine,):
        defaults = [
            value
            for one in holder.body
            if isinstance(one, ast.Assign | ast.AnnAssign) and (value := one.value) is not None
            for target in (one.targets if isinstance(one, ast.Assign) else [one.target])
            if isinstance(target, ast.Name) and target.id == node.attr
        ]
        given = [word.value for call in file.calls(holder.name) for word in call.keywords if word.arg == node.attr]
        found += given or defaults if mine is None else defaults
    for one in file.walk(ast.Assign) if mine is None else _nodes(mine, ast.Assign):
        found += [one.value for target in one.targets if ast.unparse(target) == ast.unparse(node)]
    return found + [
        word.value
        for call in file.calls("SimpleNamespace", "Namespace")
        for word in call.keywords
        if word.arg == node.attr
    ]
