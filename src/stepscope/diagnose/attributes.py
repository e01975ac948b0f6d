"""Where a module's attribute is written, and modules that stand where torch does not look for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from stepscope.record.watch.places import is_own_file

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.records.step import Site

__all__ = ["assigned_at", "attribute_text", "hidden_parts"]


def _class_definitions(run: Evidence, kind: type) -> Iterator[tuple[Any, ast.ClassDef]]:
    """The class statements of a module's own class and its bases, in the user's files."""
    for base in kind.__mro__:
        codes = (getattr(member, "__code__", None) for member in vars(base).values())
        path = next((code.co_filename for code in codes if code is not None), None)
        file = run.source.file(path) if path is not None and is_own_file(path) else None
        for node in file.walk(ast.ClassDef) if file is not None else ():
            if node.name == base.__name__:
                yield file, node


def _assignments(run: Evidence, kind: type, name: str) -> Iterator[tuple[Any, ast.Assign | ast.AnnAssign]]:
    for file, node in _class_definitions(run, kind):
        for statement in ast.walk(node):
            targets: list[ast.expr] = []
            if isinstance(statement, ast.Assign):
                targets = statement.targets
            elif isinstance(statement, ast.AnnAssign):
                targets = [statement.target]
            for target in targets:
                if isinstance(target, ast.Attribute) and target.attr == name and isinstance(target.value, ast.Name):
                    assert isinstance(statement, (ast.Assign, ast.AnnAssign))
                    yield file, statement


def assigned_at(run: Evidence, module: Any, name: str) -> Site | None:
    """The statement `self.name = ...` of a module's class."""
    found = next(_assignments(run, type(module), name), None)
    return None if found is None else found[0].site(found[1])


def attribute_text(run: Evidence, module: Any, name: str) -> str:
    """What is assigned there, as it is written."""
    found = next(_assignments(run, type(module), name), None)
    return "" if found is None or found[1].value is None else ast.unparse(found[1].value)


def hidden_parts(module: Any) -> Iterator[tuple[str, Any]]:
    """(attribute, module or parameter) of what a module keeps in plain lists, tuples, sets and dicts."""
    for name, value in vars(module).items():
        if name not in _TORCHS and isinstance(value, (list, tuple, set, dict)):
            yield from ((name, part) for part in _inside(value))


_TORCHS = frozenset(vars(torch.nn.Module()))


def _inside(value: Any, depth: int = 0) -> Iterator[Any]:
    items = list(value.values()) if isinstance(value, dict) else list(value)
    for item in items[:1000]:
        if isinstance(item, (torch.nn.Module, torch.nn.Parameter)):
            yield item
        elif depth < 2 and isinstance(item, (list, tuple, set, dict)):
            yield from _inside(item, depth + 1)
