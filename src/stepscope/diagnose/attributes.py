"""Where a module's attribute is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.diagnose.source import SourceFile
    from stepscope.evidence.modules import Module
    from stepscope.records.step import Site


def _class_definitions(run: Evidence, module: Module) -> Iterator[tuple[SourceFile, ast.ClassDef]]:
    """The class statements of a module's own class and its bases, in the user's files."""
    for name, path in module.classes.items():
        file = run.source.file(path)
        if file is not None:
            yield from ((file, node) for node in file.walk(ast.ClassDef) if node.name == name)


def _assignments(run: Evidence, module: Module, name: str) -> Iterator[tuple[SourceFile, ast.Assign | ast.AnnAssign]]:
    for file, node in _class_definitions(run, module):
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


def assigned_at(run: Evidence, module: Module, name: str) -> Site | None:
    """The statement `self.name = ...` of a module's class."""
    found = next(_assignments(run, module, name), None)
    return None if found is None else found[0].site(found[1])
