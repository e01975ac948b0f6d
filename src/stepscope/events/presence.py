"""Which points the installed packages have. Nothing is imported: what is not there yet is read from source files."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

Presence = Literal["found", "missing", "not installed", "unknown"]
"""`unknown`: compiled code, or a name that only running the package would tell."""

_NAMES = {"lightning.pytorch": "pytorch_lightning", "lightning.fabric": "lightning_fabric"}
"""The same classes under another name, where the first is not installed."""
_DEEPEST = 6


def presence(address: str) -> Presence:
    """Whether `module:path` is there.

    >>> presence("argparse:ArgumentParser.parse_known_args"), presence("argparse:ArgumentParser.no_such_method")
    ('found', 'missing')
    >>> presence("no_such_package:Thing.method")
    'not installed'
    """
    module, _, path = address.partition(":")
    for name, other in _NAMES.items():
        if module.startswith(name) and not is_installed(module.split(".")[0]):
            module = other + module.removeprefix(name)
    if not is_installed(module.split(".")[0]):
        return "not installed"
    if module in sys.modules:
        return "found" if _is_in(sys.modules[module], path) else "missing"
    return _in_module(module, tuple(path.split(".")), _DEEPEST)


def _is_in(owner: Any, path: str) -> bool:
    for name in path.split("."):
        if not hasattr(owner, name):
            return False
        owner = getattr(owner, name)
    return True


@cache
def is_installed(package: str) -> bool:
    if package in sys.builtin_module_names:
        return True
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


@cache
def _spec_of(module: str) -> ModuleSpec | None:
    """Where a module is. `find_spec` of a part would import the package around it, so each folder is looked into."""
    top, *parts = module.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return None
    name = top
    for part in parts:
        if spec is None or spec.submodule_search_locations is None:
            return None
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, list(spec.submodule_search_locations))
    return spec


@cache
def _source_of(module: str) -> ast.Module | None:
    spec = _spec_of(module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return ast.parse(Path(spec.origin).read_bytes())


@cache
def _in_module(module: str, path: tuple[str, ...], depth: int) -> Presence:
    tree = _source_of(module)
    if tree is None or not depth:
        return "unknown"
    stars, found = [], None
    for node in _statements(tree.body):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            stars.append(_absolute(module, node))
        elif (one := _in_statement(module, node, path, depth)) is not None:
            found = one  # the last one counts, as it does when the file runs
    if found is not None:
        return found
    answers = [_in_module(star, path, depth - 1) for star in stars]
    return "found" if "found" in answers else "unknown" if "unknown" in answers else "missing"


def _in_statement(module: str, node: ast.stmt, path: tuple[str, ...], depth: int) -> Presence | None:
    """What a statement says of the name; None if it is about others."""
    name, *rest = path
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
        return "found"
    if isinstance(node, ast.ClassDef) and node.name == name:
        return _in_class(module, node, tuple(rest), depth) if rest else "found"
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            if (alias.asname or alias.name) == name:
                return _in_module(_absolute(module, node), (alias.name, *rest), depth - 1)
    if name in _assigned(node):
        return "unknown" if rest else "found"
    return None


def _in_class(module: str, node: ast.ClassDef, path: tuple[str, ...], depth: int) -> Presence:
    for inner in _statements(node.body):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and inner.name == path[0]:
            return "found"
        if path[0] in _assigned(inner):
            return "found"
    if path[0] == "__init__":
        return "found"  # every class has one
    bases = [base for base in node.bases if isinstance(base, ast.Name)]
    answers = [_in_module(module, (base.id, *path), depth - 1) for base in bases if base.id != "object"]
    if len(bases) < len(node.bases) or "unknown" in answers:
        return "unknown"
    return "found" if "found" in answers else "missing"


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of a body, also in its conditions."""
    for node in body:
        yield node
        for name in ("body", "orelse", "finalbody"):
            if isinstance(node, ast.If | ast.Try | ast.With):
                yield from _statements(getattr(node, name, []))
        for handler in getattr(node, "handlers", ()):
            yield from _statements(handler.body)


def _assigned(node: ast.stmt) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _absolute(module: str, node: ast.ImportFrom) -> str:
    """The module that `from .part import x` names."""
    if not node.level:
        return node.module or ""
    parts, spec = module.split("."), _spec_of(module)
    if spec is None or spec.submodule_search_locations is None:
        parts = parts[:-1]  # not a package itself
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, node.module] if node.module else parts)
