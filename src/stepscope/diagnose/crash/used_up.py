"""A generator that an earlier line has gone through, so that a later one finds nothing in it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from stepscope.common.syntax import said
from stepscope.diagnose.crash.bindings import body_nodes, node_site, scope_of
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.crash.value_origin import bound
from stepscope.diagnose.source import called_name
from stepscope.records.step import Site

_ONCE = frozenset({"parameters", "named_parameters", "buffers", "children", "modules", "iter", "zip", "map", "filter",
                   "enumerate", "chain", "reversed", "islice"})  # fmt: skip


@dataclass(frozen=True)
class UsedUp:
    """A name that held a generator: where it was made, and where it was gone through first."""

    name: str
    made: Site
    made_text: str
    used: Site


def used_up(crash: Crash, frame: Frame, node: ast.AST) -> UsedUp | None:
    """Whether an argument is a name of a generator that the frame has already used."""
    scope = scope_of(frame)
    binding = bound(frame, said(node)) if isinstance(node, (ast.Name, ast.Attribute)) else None
    if scope is None or binding is None or binding.value is None or not _is_once(binding.value):
        return None
    name = said(node)
    for one in body_nodes(scope):
        if not _goes_through(one, name) or not binding.line < getattr(one, "lineno", 0) < frame.line:
            continue
        return UsedUp(name, binding.site, said(binding.value, 100), node_site(frame.file, one))
    return None


def _is_once(value: ast.expr) -> bool:
    return isinstance(value, ast.GeneratorExp) or called_name(value) in _ONCE


def _goes_through(node: ast.AST, name: str) -> bool:
    """A call, loop or comprehension that takes it; not an attribute or a test of it."""
    if isinstance(node, ast.Call):
        return any(said(one) == name for one in node.args)
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return said(node.iter) == name
    if isinstance(node, (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)):
        return any(said(one.iter) == name for one in node.generators)
    return False
