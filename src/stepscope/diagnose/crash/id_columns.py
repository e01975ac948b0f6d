"""A table of which every column is used as ids, picked from a larger one of floats."""

from __future__ import annotations

import ast

from stepscope.common.ops import CASTS, RESHAPES, SELECTIONS
from stepscope.common.syntax import parents_of
from stepscope.diagnose.crash.bindings import body_nodes, scope_of
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.crash.turning_point import own_site
from stepscope.evidence.frame_values import HeldTensor
from stepscope.evidence.modules import Module
from stepscope.records.step import Site


def id_columns(crash: Crash, column: HeldTensor) -> tuple[str, Site] | None:
    """The table's name in the frame that fails, and the line that picked it, where no other use needs it as floats."""
    origin = None if column.origin is None else column.origin.back_through(CASTS | RESHAPES)
    frame = crash.last
    if origin is None or frame is None or origin.op not in SELECTIONS or not origin.inputs:
        return None
    table = origin.inputs[0]
    site = own_site(table)
    name = next((n for n, held in frame.locals.items() if isinstance(held, HeldTensor) and held.origin is table), "")
    if not name or site is None or table.op not in SELECTIONS or site.line == frame.line:
        return None
    return (name, site) if _only_ids(frame, name) else None


def _only_ids(frame: Frame, name: str) -> bool:
    """Whether each use of a name is inside a call of an embedding."""
    scope, parents = scope_of(frame), parents_of(frame.file)
    uses = [one for one in body_nodes(scope) if isinstance(one, ast.Name) and one.id == name] if scope else []
    for use in uses:
        node: ast.AST | None = use
        while node is not None and not isinstance(node, (ast.Call, ast.stmt)):
            node = parents.get(node)
        layer = frame.value_of(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(layer, Module) or not layer.is_a("Embedding", "EmbeddingBag"):
            return False
    return bool(uses)
