"""Which files a test is about: its own, and what it imports of the project; not the other tests of the session."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from stepscope.diagnose.source import Source, SourceFile
from stepscope.record.observers.own_frames import is_own_file

__all__ = ["TestSource"]


class TestSource(Source):
    """The files of one test, as rules ask for them."""

    __test__ = False  # no test case, though pytest may see it in a module of tests

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
        """From the test's file along its imports, through files of the project only."""
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
    """Where fixtures of the test may come from."""
    folders = [folder for folder in test.parents if folder == root or root in folder.parents]
    return [str(folder / "conftest.py") for folder in folders if (folder / "conftest.py").is_file()]


def _imported(tree: ast.Module) -> Iterator[str]:
    """The modules a file may have imported, by their names; relative ones by their ending."""
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
