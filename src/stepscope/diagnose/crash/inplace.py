"""What wrote over a value that backward still needed: an optimizer's step, or an operation in place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from stepscope.common.syntax import said, tree_of
from stepscope.diagnose.crash.bindings import node_site, scope_of
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.crash.graph import forward_of, loss_of
from stepscope.evidence.frame_values import HeldOptimizer
from stepscope.records.step import Site

_WEIGHTS = ("asstrided", "t", "transpose", "permute", "view", "unsafeview")


@dataclass(frozen=True)
class Written:
    """The write that spoiled a value."""

    site: Site | None
    what: str
    by_optimizer: bool
    shape: tuple[int, ...]
    made_by: str


def written_over(crash: Crash) -> Written | None:
    """The write, when the crash is about one."""
    found = re.search(r"inplace operation: \[\S+ \[([\d, ]*)\]\](?:, which is output \d+ of (\w+))?", crash.message)
    if found is None:
        return None
    shape = tuple(int(n) for n in found[1].split(",") if n.strip())
    made_by = re.sub(r"backward\d*$", "", found[2] or "")
    step = _optimizer_step(crash, shape) if made_by in ("", *_WEIGHTS) else None
    if step is not None:
        return Written(step[0], step[1], True, shape, made_by)
    return _by_trail(crash, shape, made_by) or _by_source(crash, shape, made_by)


def _optimizer_step(crash: Crash, shape: tuple[int, ...]) -> tuple[Site, str] | None:
    """The last optimizer step before this backward, when a weight has the shape that was written over."""
    optimizers = [value for _, value, _ in crash.values() if isinstance(value, HeldOptimizer)]
    if not any(known in (shape, shape[::-1]) for optimizer in optimizers for known in optimizer.shapes):
        return None
    if crash.stepped is not None:
        return crash.stepped.site, "optimizer.step()"
    for frame in reversed(crash.own):
        scope = scope_of(frame)
        calls = [n for n in ast.walk(scope) if isinstance(n, ast.Call)] if scope is not None else []
        steps = [n for n in calls if _is_step(frame, n) and n.lineno < frame.line]
        if steps:
            last = max(steps, key=lambda node: node.lineno)
            return node_site(frame.file, last), said(last)
    return None


def _is_step(frame: Frame, call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
        return False
    return isinstance(frame.value_of(call.func.value), HeldOptimizer)


def _by_trail(crash: Crash, shape: tuple[int, ...], made_by: str) -> Written | None:
    loss = loss_of(crash)
    origin = None if loss is None else loss.origin
    if origin is None:
        return None
    found = [past for past in origin.ancestors(4000) if _writes(past.op) or past.arguments.get("inplace") is True]
    fits = [past for past in found if past.shape == shape] or found
    named = [past for past in fits if past.inputs and past.inputs[0].op.strip("_").replace("_", "") == made_by]
    for past in named or fits:
        if past.place is not None:
            return Written(past.place.site, past.op, False, shape, made_by)
    return None


def _writes(op: str) -> bool:
    return op.startswith("__i") or "setitem" in op or (op.endswith("_") and not op.endswith("__"))


def _by_source(crash: Crash, shape: tuple[int, ...], made_by: str) -> Written | None:
    for file, node in _functions(crash):
        for part in ast.walk(node):
            text = _write_at(part)
            if text:
                return Written(node_site(file, part), text, False, shape, made_by)
    return None


def _functions(crash: Crash) -> Iterator[tuple[str, ast.AST]]:
    for _, model, _ in crash.values():
        code = forward_of(crash, model)
        if code is not None:
            for node in ast.walk(tree_of(code.file) or ast.Module([], [])):
                if isinstance(node, ast.FunctionDef) and node.lineno == code.first_line:
                    yield code.file, node
    for frame in reversed(crash.own):
        scope = scope_of(frame)
        if scope is not None:
            yield frame.file, scope


def _write_at(node: ast.AST) -> str:
    """An operation in place on what may be a tensor; counters (`n += 1`) are not."""
    if isinstance(node, ast.AugAssign) and not isinstance(node.value, ast.Constant):
        return said(node)
    if isinstance(node, ast.Assign) and any(isinstance(target, ast.Subscript) for target in node.targets):
        return said(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        if name.endswith("_") and not name.endswith("__") and name not in ("requires_grad_", "zero_grad_"):
            return said(node)
    return ""
