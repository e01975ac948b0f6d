"""What a class's source says of its children: the line of each `self.name = ...`, `add_module` and `setattr`."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from functools import lru_cache

from stepscope.record.sites import is_users
from stepscope.records.step import Site

_REGISTRARS = {"add_module", "register_module", "register_parameter", "register_buffer", "setattr"}


@lru_cache(maxsize=512)
def assignments_of(kind: type) -> dict[str, Site]:
    """Attribute -> the last place in the class (or a base of the user's) that assigns it."""
    found: dict[str, Site] = {}
    for base in reversed(kind.__mro__):
        init = base.__dict__.get("__init__")
        code = getattr(init, "__code__", None)
        if code is not None and is_users(code):
            found.update(_assignments(base, code.co_filename))
    return found


def _assignments(kind: type, file: str) -> dict[str, Site]:
    try:
        lines, first = inspect.getsourcelines(kind)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):  # made in a shell, generated, or no source at hand
        return {}
    found: dict[str, Site] = {}
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for node in ast.walk(function):
            for name in _names(node):
                line = first + getattr(node, "lineno", 1) - 1
                text = linecache.getline(file, line).strip()
                found[name] = Site(file=file, line=line, function=f"{kind.__qualname__}.{function.name}", text=text)
    return found


def _names(node: ast.AST) -> list[str]:
    """The attributes of `self` this statement sets."""
    if isinstance(node, ast.Assign):
        targets = [t for target in node.targets for t in (target.elts if isinstance(target, ast.Tuple) else [target])]
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    elif isinstance(node, ast.Call):
        return _registered(node)
    else:
        return []
    return [t.attr for t in targets if isinstance(t, ast.Attribute) and _is_self(t.value)]


def _registered(node: ast.Call) -> list[str]:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called not in _REGISTRARS:
        return []
    names = node.args[1:2] if called == "setattr" else node.args[:1]
    return [name.value for name in names if isinstance(name, ast.Constant) and isinstance(name.value, str)]


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"
