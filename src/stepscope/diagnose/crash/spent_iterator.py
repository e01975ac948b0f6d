"""A `next()` that found nothing more: the iterator, what it was made of, and how many items the loop wants."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from math import ceil, floor

from stepscope.common.syntax import parents_of, said
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.crash.uneven_view import whole
from stepscope.diagnose.crash.value_origin import Made, origin_of
from stepscope.evidence.frame_values import HeldItems, HeldLoader


@dataclass(frozen=True)
class Spent:
    name: str
    made: Made
    source: str
    """What can be gone through again: `loader` of `iter(loader)`; the call that made a generator."""
    holds: int | None
    wanted: int | None


def spent(crash: Crash) -> Spent | None:
    if not crash.is_a("StopIteration") and not crash.says(r"generator raised stopiteration"):
        return None
    frame = crash.last
    call = None if frame is None else frame.running
    if frame is None or not isinstance(call, ast.Call) or said(call.func) != "next" or len(call.args) != 1:
        return None
    name = said(call.args[0])
    made = origin_of(crash, frame, call.args[0])
    if made.binding is None or not isinstance(made.node, ast.Call):
        return None
    inner = made.node.args[0] if said(made.node.func) in ("iter", "enumerate") and made.node.args else None
    return Spent(name, made, said(inner or made.node), _length(made.frame, inner), _wanted(frame, call))


def _length(frame: Frame, node: ast.AST | None) -> int | None:
    """How many items one pass over it gives."""
    value = None if node is None else frame.value_of(node)
    if isinstance(value, HeldLoader) and value.samples is not None and value.batch_size:
        batches = value.samples / value.batch_size
        return floor(batches) if value.drop_last else ceil(batches)
    return value.length if isinstance(value, HeldItems) else None


def _wanted(frame: Frame, node: ast.AST) -> int | None:
    """How often the loop around it runs."""
    parents = parents_of(frame.file)
    here: ast.AST | None = node
    while here is not None and not isinstance(here, (ast.For, ast.FunctionDef)):
        here = parents.get(here)
    if not isinstance(here, ast.For):
        return None
    if isinstance(here.iter, ast.Call) and said(here.iter.func) == "range" and len(here.iter.args) == 1:
        return whole(frame, here.iter.args[0])
    return _length(frame, here.iter)
