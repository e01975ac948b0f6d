"""The story of an array in the source: from where it is handed to torch back to the statement that built it.

Read off the syntax, through variables, casts, splits, own functions and their arguments; nothing is run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.crash.bindings import Binding, bound_before
from stepscope.diagnose.source import SourceFile, called_name, dotted
from stepscope.records.place import Place

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.records.step import Site

_CASTS = frozenset((
    "tensor", "from_numpy", "as_tensor", "Tensor", "FloatTensor", "LongTensor", "asarray", "array", "ascontiguousarray",
    "float32", "int64", "TensorDataset", "DataLoader", "Subset", "map", "list", "tuple", "stack", "vstack", "hstack",
    "concatenate", "column_stack", "cat", "zip",
))  # fmt: skip
"""What they are given is what they give."""
_METHODS = frozenset((
    "astype", "float", "long", "double", "to", "copy", "clone", "numpy", "reshape", "view", "unsqueeze", "squeeze",
    "to_numpy", "detach", "cpu", "T",
))  # fmt: skip
"""Methods that give what they are called on."""
_SCALERS = frozenset({"transform", "fit_transform"})
_DEEPEST = 12


def binding_of(file: SourceFile, name: str, at: ast.AST) -> Binding | None:
    """The statement that gave a name its value, as seen from a node: in its function, else in the module."""
    line = getattr(at, "lineno", 1)
    if name.startswith("self."):
        owner = file.enclosing(at, ast.ClassDef)
        for node in ast.walk(owner) if owner is not None else ():
            if isinstance(node, ast.Assign) and any(dotted(target) == name for target in node.targets):
                return Binding(file.path, node, node.value)
        return None
    for number, scope in enumerate(_scopes(file, at)):
        found = bound_before(file.path, scope, name, line if number == 0 else 10**9)
        if found is not None and found.statement is not at:
            return found
    return None


def _scopes(file: SourceFile, node: ast.AST) -> Iterator[ast.AST]:
    for outer in (node, *file.up(node)):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            yield outer


def functions_named(run: Evidence, name: str) -> Iterator[tuple[SourceFile, ast.FunctionDef]]:
    """The user's own functions of this name."""
    for file in run.source.files():
        for node in file.walk(ast.FunctionDef):
            if node.name == name:
                yield file, node


def returned_by(function: ast.FunctionDef) -> list[ast.expr]:
    return [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]


def story_at(run: Evidence, place: Place | Site | None) -> list[Site]:
    """The statements behind the expression that ran at a place, nearest first."""
    if place is None:
        return []
    site = place.site if isinstance(place, Place) else place
    file = run.source.file(site.file)
    node: ast.AST | None = run.source.expression(site)
    if file is None:
        return []
    if not isinstance(node, ast.Call):
        statements = [one for one in file.walk(ast.stmt) if one.lineno <= site.line <= (one.end_lineno or one.lineno)]
        inner = max(statements, key=lambda one: one.lineno, default=None)
        node = getattr(inner, "value", None) if node is None or isinstance(inner, ast.Assign) else node
    return [] if node is None else story_of(run, file, node)


def story_of(run: Evidence, file: SourceFile, node: ast.AST) -> list[Site]:
    """The statements an expression's value went through, nearest first; the last one builds it."""
    return list(_Story(run).of(file, node, None, 0))


def _receiver(call: ast.AST) -> str:
    """Of `xs.append(x)` the xs."""
    function = getattr(call, "func", None)
    return dotted(function.value) if isinstance(function, ast.Attribute) else ""


class _Story:
    def __init__(self, run: Evidence) -> None:
        self.run = run
        self.seen: set[tuple[str, int]] = set()

    def of(self, file: SourceFile, node: ast.AST, index: int | None, depth: int) -> Iterator[Site]:
        if depth > _DEEPEST:
            return
        if isinstance(node, (ast.Name, ast.Attribute)) and dotted(node):
            name = dotted(node)
            if isinstance(node, ast.Attribute) and not name.startswith("self."):
                yield from self.of(file, node.value, index, depth + 1)
                return
            yield from self._name(file, name, node, depth)
        elif isinstance(node, (ast.Tuple, ast.List)):
            # Without knowing which, the first: data comes before its labels.
            first = isinstance(node, ast.Tuple) and index is None
            chosen = node.elts if index is None or index >= len(node.elts) else [node.elts[index]]
            for one in chosen[: 1 if first else 3]:
                yield from self.of(file, one, None, depth + 1)
        elif isinstance(node, (ast.Subscript, ast.Starred)):
            yield from self.of(file, node.value, None, depth + 1)
        elif isinstance(node, ast.Call):
            yield from self._call(file, node, index, depth)

    def _name(self, file: SourceFile, name: str, at: ast.AST, depth: int) -> Iterator[Site]:
        binding = binding_of(file, name, at)
        if binding is None:
            yield from self._argument(file, name, at, depth)
            return
        key = (file.path, binding.line)
        if key in self.seen or binding.value is None or isinstance(binding.statement, (ast.For, ast.With)):
            return
        self.seen.add(key)
        if isinstance(binding.value, ast.List) and not binding.value.elts:
            yield from self._appended(file, name, at)
            return
        yield binding.site
        yield from self.of(file, binding.value, binding.index, depth + 1)

    def _appended(self, file: SourceFile, name: str, at: ast.AST) -> Iterator[Site]:
        """Of an empty list: what is appended to it."""
        for scope in _scopes(file, at):
            for call in ast.walk(scope):
                if called_name(call) in ("append", "extend") and _receiver(call) == name:
                    yield file.site(call)
                    return

    def _argument(self, file: SourceFile, name: str, at: ast.AST, depth: int) -> Iterator[Site]:
        """Of a function's parameter: what the calls of the function hand over."""
        function = next((scope for scope in _scopes(file, at) if isinstance(scope, ast.FunctionDef)), None)
        names = [] if function is None else [argument.arg for argument in function.args.args]
        if function is None or name not in names:
            return
        place = names.index(name) - (1 if names[:1] == ["self"] else 0)
        wanted = function.name
        owner = file.enclosing(function, ast.ClassDef)
        if wanted == "__init__" and owner is not None:
            wanted = owner.name
        for other in self.run.source.files():
            for call in other.calls(wanted):
                given = next((word.value for word in call.keywords if word.arg == name), None)
                given = given or (call.args[place] if 0 <= place < len(call.args) else None)
                if given is not None:
                    yield from self.of(other, given, None, depth + 1)
                    return

    def _call(self, file: SourceFile, node: ast.Call, index: int | None, depth: int) -> Iterator[Site]:
        name = called_name(node)
        if name == "train_test_split" and index is not None and index // 2 < len(node.args):
            yield from self.of(file, node.args[index // 2], None, depth + 1)
        elif name in _METHODS and isinstance(node.func, ast.Attribute):
            yield from self.of(file, node.func.value, index, depth + 1)
        elif name in _SCALERS and node.args:
            yield from self.of(file, node.args[0], index, depth + 1)
        elif name in _CASTS:
            arguments = node.args[1:] if name == "map" else node.args
            for one in arguments[:2]:
                yield from self.of(file, one, index, depth + 1)
        else:
            for own, function in functions_named(self.run, name):
                values = returned_by(function)
                if values:
                    parts = values[-1].elts if isinstance(values[-1], ast.Tuple) else [values[-1]]
                    part = parts[index] if index is not None and index < len(parts) else values[-1]
                    yield own.site(part)
                    yield from self.of(own, part, index, depth + 1)
                return
