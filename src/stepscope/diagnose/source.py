"""The user's own files as syntax trees, and the expression at a place that ran."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from stepscope.common.code_owner import is_own_file, maybe_own
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.records.place import Place

_LARGEST = 2_000_000
_MOST_FILES = 300


class SourceFile:
    """One Python file."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        try:
            return ast.parse(self.text)
        except (SyntaxError, ValueError, RecursionError):  # not Python after all; rules then see an empty file
            return ast.Module(body=[], type_ignores=[])

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def _calls(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = {}
        for node in self._nodes:
            if isinstance(node, ast.Call):
                found.setdefault(called_name(node), []).append(node)
        return found

    def walk(self, *kinds: type[ast.AST]) -> Iterator[Any]:
        for node in self._nodes:
            if not kinds or isinstance(node, kinds):
                yield node

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """Calls whose function ends in one of these names: `dropout` finds `F.dropout(x)`."""
        for name in names:
            yield from self._calls.get(name, ())

    def up(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node is inside of, the nearest first."""
        parents = self.parents
        while node in parents:
            node = parents[node]
            yield node

    def enclosing(self, node: ast.AST, *kinds: type[ast.AST]) -> Any:
        return next((outer for outer in self.up(node) if isinstance(outer, kinds)), None)

    def site(self, node: ast.AST) -> Site:
        """A node as a place to point at."""
        line = getattr(node, "lineno", 1)
        same = getattr(node, "end_lineno", None) == line
        return Site(
            file=self.path,
            line=line,
            column=getattr(node, "col_offset", None),
            end_column=getattr(node, "end_col_offset", None) if same else None,
            end_line=getattr(node, "end_lineno", None),
            text=self.lines[line - 1].strip() if 0 < line <= len(self.lines) else "",
        )

    def at(self, site: Site) -> ast.expr | None:
        """The smallest expression that covers exactly (or at least) the site's columns."""
        best: ast.expr | None = None
        for node in self.walk(ast.expr):
            if node.lineno > site.line or (node.end_lineno or node.lineno) < (site.end_line or site.line):
                continue
            if site.column is not None and site.end_column is not None:
                start, end = (site.line, site.column), (site.end_line or site.line, site.end_column)
                if (node.lineno, node.col_offset) > start or (node.end_lineno, node.end_col_offset) < end:
                    continue
            if best is None or _size(node) < _size(best):
                best = node
        return best


def _size(node: ast.expr) -> tuple[int, int]:
    return ((node.end_lineno or node.lineno) - node.lineno, (node.end_col_offset or 0) - node.col_offset)


@lru_cache(maxsize=64)
def _file_of(path: str, text: str) -> SourceFile:
    """The same object for the same text: runs of one script are looked at one after the other."""
    return SourceFile(path, text)


class Source:
    """All own files the process has loaded. `run.source.files()`"""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        """`texts` are those that a run has kept; without them the files of this process are read."""
        self._texts = texts
        self._files: dict[str, SourceFile | None] = {}
        self._asked: dict[str, None] = {}
        self._listed: tuple[tuple[int, int, int], list[SourceFile]] | None = None
        self._seen: set[str] = set()
        self._modules: dict[str, str] = {}
        self._expressions: dict[Place, ast.expr | None] = {}

    def file(self, path: str) -> SourceFile | None:
        """The file something points at; None if it cannot be read."""
        self._asked[path] = None
        return self._read(path)

    def _read(self, path: str) -> SourceFile | None:
        if path not in self._files:
            text = "".join(linecache.getlines(path)) if self._texts is None else self._texts.get(path, "")
            self._files[path] = _file_of(path, text) if text and len(text) <= _LARGEST else None
        return self._files[path]

    def files(self) -> list[SourceFile]:
        """The script and each loaded module of its project; of very many, first those that were asked for."""
        if self._texts is not None:
            return [file for path in self._texts if (file := self._read(path)) is not None]
        state = (len(sys.modules), len(self._asked), id(sys.modules.get("__main__")))
        if self._listed is None or self._listed[0] != state:
            # A script that has ended may be gone from there, but is known if something asked for it.
            script = getattr(sys.modules.get("__main__"), "__file__", None)
            if script:
                self._asked.setdefault(os.path.abspath(script))
            asked = [path for path in self._asked if is_own_file(path)]
            files = {path: file for path in [*self._loaded(), *asked] if (file := self._read(path)) is not None}
            if len(files) > _MOST_FILES:
                kept = set([*(path for path in asked if path in files), *files][:_MOST_FILES])
                files = {path: file for path, file in files.items() if path in kept}
            self._listed = state, list(files.values())
        return self._listed[1]

    def kept_lines(self, path: str) -> list[str] | None:
        """The lines of a file as a run has kept them; None where this process reads its own."""
        if self._texts is None:
            return None
        return self._texts.get(path, "").splitlines(keepends=True)

    def texts(self, most: int) -> dict[str, str]:
        """Of all files that a rule may ask for, as many as fit into this many characters."""
        found: dict[str, str] = {}
        for file in (*self.files(), *(one for path in self._asked if (one := self._read(path)) is not None)):
            if file.path not in found and len(file.text) <= most:
                found[file.path] = file.text
                most -= len(file.text)
        return found

    def _loaded(self) -> list[str]:
        """The own files of the modules of this process. Rules ask often, and most of its thousands are not own."""
        new = [name for name in list(sys.modules) if name not in self._seen]
        self._seen.update(new)
        for name, module in maybe_own(("__main__", *new)):
            path = _own_file_of(module)
            if path is not None:
                self._modules[name] = path
            else:
                self._modules.pop(name, None)
        return [path for name, path in self._modules.items() if name in sys.modules]

    def expression(self, where: Place | Site | None) -> ast.expr | None:
        """The expression that ran at a place."""
        if where is None or isinstance(where, Site):
            return None if where is None else self._at(where)
        if where not in self._expressions:  # rules ask of the same few places, again and again during the run
            self._expressions[where] = self._at(where.site)
        return self._expressions[where]

    def _at(self, site: Site) -> ast.expr | None:
        file = self.file(site.file)
        return None if file is None else file.at(site)

    def call(self, where: Place | Site | None) -> ast.Call | None:
        found = self.expression(where)
        return found if isinstance(found, ast.Call) else None


def _own_file_of(module: Any) -> str | None:
    path = getattr(module, "__file__", None)
    return _own_path(path) if isinstance(path, str) and path.endswith(".py") else None


@lru_cache(maxsize=10_000)
def _own_path(path: str) -> str | None:
    return os.path.abspath(path) if is_own_file(path) else None


def dotted(node: ast.AST) -> str:
    """`torch.nn.functional.dropout` of an attribute chain; "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def called_name(node: ast.AST) -> str:
    """The last name of what a call calls: `dropout` of `F.dropout(x)`, `view` of `f(x).view(1)`."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
