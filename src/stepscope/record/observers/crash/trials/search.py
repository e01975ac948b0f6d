"""`repairs`: which single changes of the failing line let the script go on, found by trying them in forks.

Two rounds. In the first, one fork evaluates the failing expression with every change. In the second, each change that
got through has a fork of its own that goes on with the script to the end of the loop's body.
"""

from __future__ import annotations

import ast
import copy
import itertools
from types import FunctionType, TracebackType
from typing import Any

import torch

from stepscope.common import clocks
from stepscope.common.syntax import tree_of
from stepscope.events.fork_seal import LeavesCopy, stop_after
from stepscope.evidence.repairs import Repair, Repairs, Replacement
from stepscope.record.observers.crash.trials.candidates import Change, Scene, changes, scene_of
from stepscope.record.observers.crash.trials.resume import functions_of, put_in_place, resumed, runner
from stepscope.record.observers.fork_probe import can_fork, in_a_fork
from stepscope.record.observers.own_frames import is_own

_MOST = 60
_MOST_FRAMES = 3
_MOST_TRIALS = 10
_ENOUGH = 4
_SECONDS = 3.0
_ALTOGETHER = 6.0
_LONG_ENOUGH = 1.0
"""Seconds of CPU after which a trial that is still running has gone far enough."""


def repairs(error: BaseException, links: list[TracebackType]) -> Repairs:
    """Tried at once, while the frames are there; nothing of it is left in this process."""
    found = Repairs()
    own = [link for link in links if is_own(link.tb_frame.f_code)]
    scenes = [one for link in reversed(own[-_MOST_FRAMES:]) if (one := scene_of(error, link)) is not None]
    if not scenes or not can_fork() or _is_reported_late(error):
        return found
    scene = scenes[0]
    callers = [one for one in scenes[1:] if one.file == scene.file]
    some = list(dict.fromkeys(itertools.islice(changes(scene, callers), _MOST)))
    if not some:
        return found
    began = clocks.perf_counter()
    through = _first_round(scene, some)
    functions = functions_of(scene.file)
    for change in through[:_MOST_TRIALS]:
        if len(found.all) >= _ENOUGH or clocks.perf_counter() - began > _ALTOGETHER:
            break
        found.tried += 1
        if _goes_on(scene, links, change, functions):
            found.all.append(_repair(scene, change))
    return found


def _is_reported_late(error: BaseException) -> bool:
    return "CUDA" in str(error) or isinstance(error, (MemoryError, RecursionError, KeyboardInterrupt, SystemExit))


def _first_round(scene: Scene, some: list[Change]) -> list[Change]:
    """Those with which the failing expression gives a value; changes elsewhere are all kept."""
    inside = {id(node) for node in ast.walk(scene.node)}
    frame = scene.link.tb_frame
    names = {**frame.f_globals, **frame.f_locals}

    def tried() -> dict[str, Any]:
        return {"through": [index for index, change in enumerate(some) if evaluates(change)]}

    def evaluates(change: Change) -> bool:
        is_target = isinstance(getattr(scene.node, "ctx", None), ast.Store)
        if id(change.node) not in inside or not isinstance(scene.node, ast.expr) or is_target:
            return True
        if change.kind == "dropped":  # of `vmap`, whose tensors can only be used inside it
            return True
        try:
            source = ast.unparse(_replaced(scene.node, change))
            with torch.no_grad():
                eval(compile(source, scene.file, "eval", dont_inherit=True), names)
        except LeavesCopy:
            return True
        except Exception:
            return False
        return True

    answer = in_a_fork(tried, _SECONDS, sealed=True) or {}
    return [some[index] for index in answer.get("through", ())]


def _replaced(tree: ast.AST, change: Change) -> ast.AST:
    """A copy of a tree with the change made."""
    new = {(type(node), _span(node)): text for node, text in change.all}

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            text = new.get((type(node), _span(node)))
            return self.generic_visit(node) if text is None else ast.copy_location(_parsed(text, node), node)

    replaced: ast.AST = Replace().visit(copy.deepcopy(tree))
    return ast.fix_missing_locations(replaced)


def _parsed(text: str, like: ast.AST) -> ast.expr:
    """The new expression; a target of an assignment where it replaces one."""
    found = ast.parse(text, mode="eval").body
    if isinstance(getattr(like, "ctx", None), ast.Store):
        for node in ast.walk(found):
            if hasattr(node, "ctx"):
                node.ctx = ast.Store()
    return found


def _span(node: ast.AST) -> tuple[int, int, int, int] | None:
    if isinstance(node, (ast.expr, ast.stmt)) and node.end_lineno is not None and node.end_col_offset is not None:
        return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
    return None


def _goes_on(scene: Scene, links: list[TracebackType], change: Change, functions: list[FunctionType]) -> bool:
    """Whether the script runs to the end of the loop's body (or as far as a copy may go) with this change."""
    at = resumed(links, scene.file, change.node)
    old = tree_of(scene.file)
    if at is None or old is None:
        return False
    changed = _replaced(old, change)
    here = changed if at.file == scene.file else tree_of(at.file)
    if not isinstance(changed, ast.Module) or not isinstance(here, ast.Module):
        return False

    def tried() -> dict[str, Any]:
        put_in_place(functions, changed, old, scene.file)
        go_on = runner(at, here)
        if go_on is None:
            return {"ran": False}
        if at.line == at.link.tb_lineno:  # else it may not have come to the failing line yet
            stop_after(_LONG_ENOUGH)
        try:
            go_on()
        except LeavesCopy:
            pass
        return {"ran": True}

    return bool((in_a_fork(tried, _SECONDS, sealed=True) or {}).get("ran"))


def _repair(scene: Scene, change: Change) -> Repair:
    spots = [Replacement(span, ast.unparse(node), new) for node, new in change.all if (span := _span(node)) is not None]
    return Repair(scene.file, spots, change.kind, change.is_sure, change.because)
