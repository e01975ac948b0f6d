"""Classes in the user's own files: their methods, and those whose name is almost that of another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from stepscope.common.syntax import parents_of, tree_of
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.crash import Crash
from stepscope.records.step import Site

Function = ast.FunctionDef | ast.AsyncFunctionDef
_ALIKE = 0.75


@dataclass(frozen=True)
class OwnClass:
    file: str
    node: ast.ClassDef

    @property
    def site(self) -> Site:
        return node_site(self.file, self.node)

    @property
    def methods(self) -> dict[str, Function]:
        return {one.name: one for one in self.node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))}

    def nested(self, name: str) -> Function | None:
        """A function of this name that is defined inside one of its methods: indented too far."""
        for method in self.methods.values():
            for one in ast.walk(method):
                if one is not method and isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and one.name == name:
                    return one
        return None


def own_class(crash: Crash, name: str) -> OwnClass | None:
    """The class of this name in the files the crash went through, or that its models come from."""
    for file in dict.fromkeys([*(frame.file for frame in reversed(crash.own)), *sorted(crash.own_files)]):
        for node in ast.walk(tree_of(file) or ast.Module([], [])):
            if isinstance(node, ast.ClassDef) and node.name == name:
                return OwnClass(file, node)
    return None


def method_like(found: OwnClass, wanted: str) -> Function | None:
    """A method that is almost called so: `__int__`, `_init_`, `foward`."""
    bare = wanted.strip("_")
    for name, node in found.methods.items():
        plain = name.strip("_")
        same = plain.replace("_", "") == bare.replace("_", "")
        alike = SequenceMatcher(None, plain, bare).ratio() >= _ALIKE and sorted(plain)[:1] != []
        special = name.startswith("_") == wanted.startswith("_") or same
        if name != wanted and special and (same or alike):
            return node
    return None


def function_in(file: str, name: str, first_line: int | None = None) -> Function | None:
    """A function of a file by its name (and the line it begins at)."""
    for node in ast.walk(tree_of(file) or ast.Module([], [])):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
            if first_line is None or first_line in (first, node.lineno):
                return node
    return None


def values_returned(file: str, function: Function) -> Iterator[ast.expr | None]:
    """What each `return` of a function gives back, those of functions inside it left out; None for a bare one."""
    parents = parents_of(file)
    for node in ast.walk(function):
        if isinstance(node, ast.Return):
            holder = parents.get(node)
            while holder is not None and not isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                holder = parents.get(holder)
            if holder is function:
                yield node.value
