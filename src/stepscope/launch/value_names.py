"""What the source calls a value: the variable, the key or the function that an expression gives it to."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from stepscope.launch.source_names import name_of, nodes_in
from stepscope.records.step import Site

__all__ = ["name_given"]

_Parents = dict[ast.AST, ast.AST]
_Assigning = ast.Assign | ast.AnnAssign | ast.NamedExpr
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CALLED = ("forward", "__call__")


@dataclass
class _Step:
    """How far a value was followed in one function: what it is called there, and whether it was returned."""

    name: str = ""
    is_returned: bool = False
    index: int | None = None
    """Its place in the tuple that is returned."""


def name_given(sites: Sequence[Site]) -> str:
    """The name of the value made at the first site; the others are the calls around it, from the inside out.

    The last of them is in the function that uses the value: what that one returns does not matter.

    `kld = kl(mu, sigma)` makes `kld`, whatever `kl` calls it; `losses["kld"] = ...` too. Empty where no name is given.
    """
    name, index = "", None
    for at, site in enumerate(sites):
        node = _expression_at(site)
        is_last = at == len(sites) - 1
        step = _Step() if node is None else _followed(node, index, is_last, _parents_in(site.file))
        name = step.name or name
        if not step.is_returned:
            break
        index = step.index
    return name


def _followed(node: ast.AST, index: int | None, is_last: bool, parents: _Parents) -> _Step:
    while (parent := parents.get(node)) is not None:
        if isinstance(parent, ast.IfExp):
            node = parent
        elif isinstance(parent, ast.Tuple) and index is None:
            node, index = parent, parent.elts.index(node)
        elif isinstance(parent, ast.Return):
            return _Step(_function_name(parent, parents), True, index)
        elif isinstance(parent, _Assigning):
            step = _assigned(parent, index)
            return (not is_last and _returned_under(step.name, parent, parents)) or step
        elif isinstance(parent, ast.Dict) and index is None:
            return _Step(_key_of(node, parent))
        else:
            return _Step(_name_in_call(node, parent, parents) if index is None else "")
    return _Step()


def _assigned(node: ast.Assign | ast.AnnAssign | ast.NamedExpr, index: int | None) -> _Step:
    target: ast.expr = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if index is not None:
        elements = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        if index >= len(elements) or any(isinstance(one, ast.Starred) for one in elements):
            return _Step()
        target = elements[index]
    return _Step(target.id if isinstance(target, ast.Name) else _plain_name(target))


def _returned_under(variable: str, node: ast.AST, parents: _Parents) -> _Step | None:
    """A variable that its function returns: by itself, in a tuple, or under a key."""
    function = _around(node, _FUNCTIONS, parents)
    for one in ast.walk(function) if function is not None else ():
        if not isinstance(one, ast.Return):
            continue
        value = one.value
        if _is_name(value, variable):
            return _Step(_function_name(one, parents) or variable, True)
        if isinstance(value, ast.Tuple):
            places = [at for at, part in enumerate(value.elts) if _is_name(part, variable)]
            if len(places) == 1:
                return _Step(variable, True, places[0])
        if isinstance(value, ast.Dict):
            keys = [_key_of(part, value) for part in value.values if _is_name(part, variable)]
            if len(keys) == 1:
                return _Step(keys[0])
    return None


def _is_name(node: ast.AST | None, variable: str) -> bool:
    return isinstance(node, ast.Name) and node.id == variable


def _name_in_call(node: ast.AST, parent: ast.AST, parents: _Parents) -> str:
    """`losses.append(dice(x))` and `loss += dice(x)` are of `dice`; `dict(kld=...)` is of `kld`."""
    if isinstance(parent, ast.keyword):
        call = parents.get(parent)
        return parent.arg or "" if isinstance(call, ast.Call) and _is_name(call.func, "dict") else ""
    is_appended = (
        isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "append"
    )
    return name_of(node) if isinstance(node, ast.Call) and (is_appended or isinstance(parent, ast.AugAssign)) else ""


def _plain_name(target: ast.expr) -> str:
    is_plain = isinstance(target, ast.Attribute) or (
        isinstance(target, ast.Subscript)
        and isinstance(target.slice, ast.Constant)
        and isinstance(target.slice.value, str)
    )
    return name_of(target) if is_plain else ""


def _key_of(node: ast.AST, inside: ast.Dict) -> str:
    key = next((key for key, value in zip(inside.keys, inside.values, strict=True) if value is node), None)
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def _function_name(node: ast.AST, parents: _Parents) -> str:
    """What is called to get the value: the function, or the class of a loss module."""
    function = _around(node, _FUNCTIONS, parents)
    if not isinstance(function, _FUNCTIONS):
        return ""
    kind = parents.get(function)
    return kind.name if function.name in _CALLED and isinstance(kind, ast.ClassDef) else function.name


def _around(node: ast.AST, kinds: tuple[type[ast.AST], ...], parents: _Parents) -> ast.AST | None:
    found: ast.AST | None = node
    while found is not None and not isinstance(found, kinds):
        found = parents.get(found)
    return found


@lru_cache(maxsize=16)
def _parents_in(path: str) -> _Parents:
    return {child: node for node in nodes_in(path) for child in ast.iter_child_nodes(node)}


@lru_cache(maxsize=16)
def _expressions_in(path: str) -> dict[tuple[int, int, int | None, int | None], ast.expr]:
    nodes = [node for node in nodes_in(path) if isinstance(node, ast.expr)]
    return {(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset): node for node in reversed(nodes)}


def _expression_at(site: Site) -> ast.expr | None:
    if site.column is None:
        return None
    return _expressions_in(site.file).get((site.line, site.column, site.end_line, site.end_column))
