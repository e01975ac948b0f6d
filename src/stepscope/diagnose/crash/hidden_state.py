"""What a loop carries from one turn to the next: the hidden state whose graph was freed a step ago."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from stepscope.common.syntax import parents_of, said, tree_of
from stepscope.diagnose.crash.bindings import Binding, bindings_in, body_nodes, node_site, scope_of
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import MISSING, Frame
from stepscope.diagnose.crash.turning_point import made_line
from stepscope.evidence.frame_values import HeldItems, HeldTensor, ModuleSeen
from stepscope.evidence.modules import Module
from stepscope.records.step import Site


@dataclass(frozen=True)
class Carried:
    """A tensor that still hangs on the graph of an earlier step."""

    name: str
    site: Site
    kind: str
    """carried: bound anew in each turn from itself · outside: computed once before the loop · attribute: of a module ·
    shared: by two losses, the first through a model of its own · both: by two losses · again: backward called twice"""


def carried_graph(crash: Crash) -> Carried | None:
    """The tensor that made backward run into a graph that was freed."""
    for frame in reversed(crash.own):
        for loop in _loops(frame):
            found = _in_loop(frame, loop)
            if found is not None:
                return found
    return _in_modules(crash) or _called_twice(crash)


def in_loop(frame: Frame) -> bool:
    """Whether the running line of a frame is run again and again by a loop of its own function."""
    return bool(_loops(frame))


def _loops(frame: Frame) -> list[ast.For | ast.While]:
    """The loops around the running line, the innermost first."""
    parents, found = parents_of(frame.file), []
    node = frame.running
    while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        node = parents.get(node)
        if isinstance(node, (ast.For, ast.While)):
            found.append(node)
    return found


def _in_loop(frame: Frame, loop: ast.For | ast.While) -> Carried | None:
    scope = scope_of(frame)
    loads: dict[str, int] = {}
    for node in body_nodes(loop):
        if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)) or isinstance(node, ast.AugAssign):
            name = node.id if isinstance(node, ast.Name) else ast.unparse(node.target)
            loads.setdefault(name, node.lineno)
    outside: Carried | None = None
    for name, line in loads.items():
        if not _hangs(frame.locals.get(name, MISSING)) or scope is None:
            continue
        every = bindings_in(frame.file, scope, name)
        inside = [b for b in every if loop.lineno <= b.line <= (loop.end_lineno or b.line)]
        if inside and line <= inside[0].line and _reads_itself(inside[0].statement, name, line):
            return Carried(name, _handed_on(frame, inside[-1], name) or inside[0].site, "carried")
        if not inside and every:
            outside = Carried(name, every[-1].site, "outside")
    return outside


def _handed_on(frame: Frame, last: Binding, name: str) -> Site | None:
    """`h = repackage(h)`: the helper that gets the state ready for the next turn is where it should be cut loose."""
    call = last.value
    given = [said(one) for one in call.args] if isinstance(call, ast.Call) and last.index is None else []
    value = frame.locals.get(name)
    made = made_line(value) if given == [name] and isinstance(value, HeldTensor) else None
    return made if made is not None and made.line != last.line else None


def _reads_itself(statement: ast.stmt, name: str, first_load: int) -> bool:
    """`out, h = model(x, h)`, `total += loss`: the old value goes into the new; or it was read further above."""
    loads = (n for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    old = isinstance(statement, ast.AugAssign) or any(node.id == name for node in loads)
    return old or first_load < statement.lineno


def _hangs(value: Any) -> bool:
    if isinstance(value, HeldItems) and value.type in ("tuple", "list"):
        return any(_hangs(part) for part in value.items[:4])
    return isinstance(value, HeldTensor) and value.has_graph


def hanging_line(crash: Crash) -> Site | None:
    """Where a module stores a tensor with its graph."""
    found = _in_modules(crash)
    return None if found is None else found.site


def _in_modules(crash: Crash) -> Carried | None:
    """A module that keeps its state as an attribute."""
    for _, model, _ in crash.values():
        for module in model.modules() if isinstance(model, Module) else ():
            seen = crash.modules.get(module)
            if seen is None:
                continue
            for name, assigned in seen.hanging.items():
                site = _assigned(seen, name) or assigned
                if site is not None:
                    return Carried(f"self.{name}", site, "attribute")
    return None


def _assigned(seen: ModuleSeen, name: str) -> Site | None:
    code = seen.kind.methods.get("forward")
    if code is None:
        return None
    for node in ast.walk(tree_of(code.file) or ast.Module([], [])):
        if isinstance(node, ast.FunctionDef) and code.first_line in (
            node.lineno,
            *(mark.lineno for mark in node.decorator_list),
        ):
            found = bindings_in(code.file, node, f"self.{name}")
            kept = [binding for binding in found if node.lineno <= binding.line <= (node.end_lineno or 0)]
            return (kept or found)[-1].site if found else None
    return None


def _shared(frame: Frame, scope: ast.AST, first: ast.Call, second: ast.Call) -> Carried | None:
    """The tensor both losses were computed from: what the first backward freed and the second needs."""
    behind = [_behind(frame, scope, call) for call in (first, second)]
    for name in behind[1]:
        found = bindings_in(frame.file, scope, name)
        if name in behind[0] and _hangs(frame.locals.get(name)) and found:
            before = [binding for binding in found if binding.line < first.lineno]
            made = (before or found)[-1]
            uses = [one for one in body_nodes(scope) if isinstance(one, ast.Name) and one.id == name]
            fed = [one for one in uses if made.line < one.lineno <= first.lineno and _feeds_layer(frame, one)]
            if not fed:  # cut off from it, the first loss would train nothing
                return Carried(name, made.site, "both")
            return Carried(name, node_site(frame.file, fed[0]), "shared")
    return None


def _feeds_layer(frame: Frame, use: ast.Name) -> bool:
    """Whether a name is handed to a model of its own: `D(fake)`."""
    call = parents_of(frame.file).get(use)
    called = frame.value_of(call.func) if isinstance(call, ast.Call) and use in call.args else None
    return isinstance(called, Module)


def _behind(frame: Frame, scope: ast.AST, call: ast.Call) -> list[str]:
    """The variables a loss was computed from, the nearest first."""
    waiting = [(part.id, call.lineno) for part in ast.walk(call.func) if isinstance(part, ast.Name)]
    seen: list[str] = []
    for name, line in waiting:
        if name in seen or len(seen) > 40:
            continue
        seen.append(name)
        above = [b for b in bindings_in(frame.file, scope, name) if b.line < line]
        if above and above[-1].value is not None:
            parts = ast.walk(above[-1].value)
            waiting += [(part.id, above[-1].line) for part in parts if isinstance(part, ast.Name)]
    return seen[1:]


def _called_twice(crash: Crash) -> Carried | None:
    """Two calls of backward on one graph."""
    frame = crash.last
    scope = None if frame is None else scope_of(frame)
    if frame is None or scope is None:
        return None
    calls = [
        node
        for node in body_nodes(scope)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"
    ]
    here = [call for call in calls if call.lineno == frame.line]
    others = [call for call in calls if call.lineno < frame.line]
    if here and others:
        shared = _shared(frame, scope, others[-1], here[0])
        if shared is not None:
            return shared
        return Carried(ast.unparse(others[-1].func), node_site(frame.file, here[0]), "again")
    return None
