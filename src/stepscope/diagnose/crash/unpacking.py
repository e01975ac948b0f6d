"""`train_test_split` unpacked in the wrong order: it gives X_train, X_test, y_train, y_test."""

from __future__ import annotations

import ast
import re

from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.syntax import assigned_names, tree_of
from stepscope.records.step import Site

__all__ = ["splits_in", "wrong_splits"]

_TEST = re.compile(r"(^|_)(test|val|valid|validation|te|eval|dev|holdout)(_|\d|$)", re.IGNORECASE)
_TRAIN = re.compile(r"(^|_)(train|tr|training)(_|\d|$)", re.IGNORECASE)


def wrong_splits(crash: Crash) -> list[tuple[Site, list[str]]]:
    """Such statements in the files the crash went through."""
    files = dict.fromkeys(frame.file for frame in crash.own)
    return [found for file in files if (tree := tree_of(file)) is not None for found in splits_in(file, tree)]


def splits_in(file: str, tree: ast.AST) -> list[tuple[Site, list[str]]]:
    """Unpackings whose names stand in another order than the values come in."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or len(node.targets) != 1:
            continue
        called = node.value.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name != "train_test_split":
            continue
        names = list(assigned_names(node.targets[0]))
        arrays = [argument for argument in node.value.args if not isinstance(argument, ast.Starred)]
        if len(names) == 2 * len(arrays) and len(arrays) >= 2 and _is_wrong(names):
            found.append((node_site(file, node), names))
    return found


def _is_wrong(names: list[str]) -> bool:
    """The values alternate train, test; all names must say what they are, and one must say the other."""
    sides = ["test" if _TEST.search(n) else "train" if _TRAIN.search(n) else "" for n in names]
    if "" in sides:
        return False
    return sides != ["train", "test"] * (len(names) // 2)
