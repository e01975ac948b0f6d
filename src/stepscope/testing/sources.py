"""Which files a test covers: its own, and what it imports from the project; not the session's other tests."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from stepscope.diagnose.source import Source, SourceFile
from stepscope.record.observers.own_frames import is_own_file


class TestSource(Source):
    """The files of one test, for the rules."""

    __test__ = False  # not a test case, though pytest may collect it in a test module

    def __init__(self, test: Path, root: Path) -> None:
        super().__init__()
        self._first = [str(test), *_conftests(test, root)]
        self._own: list[SourceFile] | None = None

    def files(self) -> list[SourceFile]:
        if self._own is None:
            self._own = list(self._reached())
        return self._own

    def holds(self, path: str) -> bool:
        """Whether a file is one of them."""
        return any(os.path.samefile(one.path, path) for one in self.files()) if os.path.exists(path) else False

    def _reached(self) -> Iterator[SourceFile]:
        """From the test's file along its imports, through project files only."""
        seen: set[str] = set()
        rest = list(self._first)
        while rest:
            path = os.path.abspath(rest.pop(0))
            if path in seen:
                continue
            seen.add(path)
            file = self.file(path)
            if file is not None:
                yield file
                rest += [found for name in _imported(file.tree) if (found := _own_path(name)) is not None]


def _conftests(test: Path, root: Path) -> list[str]:
    """Where fixtures of the test may be defined."""
    folders = [folder for folder in test.parents if folder == root or root in folder.parents]
    return [str(folder / "conftest.py") for folder in folders if (folder / "conftest.py").is_file()]


def _imported(tree: ast.Module) -> Iterator[str]:
    """The modules a file may have imported, by name; relative ones by suffix."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = ("." if node.level else "") + (node.module or "")
            yield start
            yield from (f"{start}.{alias.name}" if start.strip(".") else f".{alias.name}" for alias in node.names)


def _own_path(name: str) -> str | None:
    modules = sys.modules
    module = modules.get(name)
    if name.startswith(".") and len(name) > 1:
        module = next((modules[known] for known in list(modules) if known.endswith(name)), None)
    path = getattr(module, "__file__", None)
    return path if isinstance(path, str) and path.endswith(".py") and is_own_file(path) else None
