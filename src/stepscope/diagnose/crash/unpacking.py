"""`train_test_split` unpacked in the wrong order: it gives X_train, X_test, y_train, y_test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from stepscope.common.syntax import assigned_names, tree_of
from stepscope.diagnose.crash.bindings import body_nodes, node_site, scope_of
from stepscope.diagnose.crash.frames import Frame
from stepscope.evidence.frame_values import Held, HeldTensor
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.crash.crash import Crash

_TEST = re.compile(r"(^|_)(test|val|valid|validation|te|eval|dev|holdout)(_|\d|$)", re.IGNORECASE)
_TRAIN = re.compile(r"(^|_)(train|tr|training)(_|\d|$)", re.IGNORECASE)


def wrong_splits(crash: Crash) -> list[tuple[Site, list[str]]]:
    """Such statements in the files the crash went through."""
    found: list[tuple[Site, list[str]]] = []
    for frame in {frame.file: frame for frame in crash.own}.values():
        codes = [value.code for value in frame.globals.values() if isinstance(value, Held)]
        helpers = {code.file for code in codes if code is not None and code.own} - {frame.file}
        trees = [tree for file in [*helpers, frame.file] if (tree := tree_of(file)) is not None]
        tree = tree_of(frame.file)
        found += [] if tree is None else splits_in(frame.file, ast.walk(tree), returned_by(map(ast.walk, trees)))
    return found or [one for frame in reversed(crash.own) for one in _by_shapes(frame)]


def _by_shapes(frame: Frame) -> Iterator[tuple[Site, list[str]]]:
    """`train_x, train_y, test_x, test_y = helper()`, where the second has the shape of the first one's test half."""
    scope = scope_of(frame)
    for node in body_nodes(scope) if scope is not None else ():
        names = list(assigned_names(node.targets[0])) if isinstance(node, ast.Assign) else []
        held = [frame.locals.get(name) for name in names]
        shapes = [value.shape for value in held if isinstance(value, (HeldTensor, Held)) and value.shape is not None]
        if len(names) != 4 or len(shapes) != 4 or not all(shapes) or not _is_wrong(names):
            continue
        a, b, c, d = shapes
        halves = a[1:] == b[1:] and c[1:] == d[1:] and a[1:] != c[1:]
        if halves and a[0] == c[0] and b[0] == d[0] and a[0] != b[0]:
            yield node_site(frame.file, node), names


def splits_in(
    file: str, nodes: Iterable[ast.AST], returned: Mapping[str, Sequence[str]]
) -> list[tuple[Site, list[str]]]:
    """Unpackings among a file's nodes whose names stand in another order than the values come in."""
    found = []
    for node in nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or len(node.targets) != 1:
            continue
        called = node.value.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        names = list(assigned_names(node.targets[0]))
        if name in returned and sorted(returned[name]) == sorted(names) and returned[name] != names:
            found.append((node_site(file, node), names))
        if name != "train_test_split":
            continue
        arrays = [argument for argument in node.value.args if not isinstance(argument, ast.Starred)]
        if len(names) == 2 * len(arrays) and len(arrays) >= 2 and _is_wrong(names):
            found.append((node_site(file, node), names))
    return found


def returned_by(files: Iterable[Iterable[ast.AST]]) -> dict[str, list[str]]:
    """Functions that return several names, by the nodes of each file: what comes back, in order. Later files win."""
    return {name: names for nodes in files for name, names in _returned(nodes)}


def _returned(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, list[str]]]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and node.body and isinstance(node.body[-1], ast.Return):
            value = node.body[-1].value
            if isinstance(value, ast.Tuple) and all(isinstance(part, ast.Name) for part in value.elts):
                yield node.name, [part.id for part in value.elts if isinstance(part, ast.Name)]


def _is_wrong(names: list[str]) -> bool:
    """The values alternate train, test; all names must say what they are, and one must say the other."""
    sides = ["test" if _TEST.search(n) else "train" if _TRAIN.search(n) else "" for n in names]
    if "" in sides or len(set(sides)) < 2:  # `X_train1, X_train2, ...`: a training set cut once more
        return False
    return sides != ["train", "test"] * (len(names) // 2)
