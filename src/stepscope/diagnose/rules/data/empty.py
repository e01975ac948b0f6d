from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.diagnose.crash.bindings import bindings_in, scope_of
from stepscope.diagnose.crash.classes import own_class
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import MISSING, Frame
from stepscope.diagnose.crash.value_origin import Made, origin_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import Held, HeldItems, HeldLoader


@rule("data.empty", severity="error", needs="crash", follows=("data.drop-last-tiny",))
def empty(run: Evidence) -> Iterator[Proof]:
    """A dataset, a loader or a list is empty, and what follows cannot work with nothing.

    Why it matters: the error (a division by zero, a variable without a value, `num_samples=0`) comes later and does
    not mention it. Usually a path or a pattern matched no file, or a filter left nothing.

    What to do: check the path, the pattern or the filter that made it, and raise an error there when nothing is found.

    Bad:
        files = glob.glob("dta/*.png")
    Good:
        files = glob.glob("data/*.png")
        assert files, "no pictures found"
    """
    crash = run.crash
    if crash is None or crash.last is None:
        return
    about = (
        crash.says(r"num_samples should be a positive integer value, but got num_samples=0")
        or crash.is_a("ZeroDivisionError", "UnboundLocalError", "StopIteration")
        or crash.says(r"expected a non-empty list of tensors|stack expects a non-empty|need at least one array")
        or crash.says(r"(max|min)\(\) (arg is an empty sequence|iterable argument is empty)")
    )
    found = _empty(crash) if about else None
    if found is None:
        return
    name, what, made, frame = found
    yield Proof(
        where=made.site,
        message=f"`{name}` is empty: {what}",
        label="this is empty",
        evidence={"name": name, "made_by": made.text, "error": crash.type},
        fix="check the path, pattern, filter or split that created it; raise an error here if it is empty",
        related=[(frame.site, "it fails here, because it is empty")] if frame.line != made.site.line else [],
    )


def _empty(crash: Crash) -> tuple[str, str, Made, Frame] | None:
    """The empty collection that the failing line, or a loop before it, works with."""
    inside = _in_loader(crash)
    if inside is not None:
        return inside
    for frame in reversed(crash.own):
        for node in _nodes(frame):
            value = frame.value_of(node)
            found = _inside(crash, frame, node, value)
            if found is not None:
                return found
    return None


def _in_loader(crash: Crash) -> tuple[str, str, Made, Frame] | None:
    """The empty list in a dataset of the user's own that a loader was being made for, and where it is filled."""
    held = [frame.locals.get("dataset", frame.locals.get("data_source")) for frame in crash.frames if not frame.own]
    for dataset in held:
        kind = own_class(crash, dataset.type) if isinstance(dataset, Held) and _held_list(dataset) else None
        if kind is None or crash.last is None or not isinstance(dataset, Held):
            continue
        lists = {key: one for key, one in dataset.attributes.items() if isinstance(one, HeldItems)}
        name = next(key for key, one in lists.items() if not one.length)
        made = bindings_in(kind.file, kind.node.body[0], f"self.{name}")
        if made and isinstance(made[0].value, (ast.Call, ast.ListComp)):
            where = Made(kind.file, made[0].value, crash.last)
            return f"self.{name}", f"{dataset.type} has no samples", where, crash.last
    return None


def _nodes(frame: Frame) -> Iterator[ast.expr]:
    """The collections on the failing line; then those that loops above it went through."""
    node = frame.running
    for part in ast.walk(node) if node is not None else ():
        if isinstance(part, (ast.Name, ast.Attribute)):
            yield part
    scope = scope_of(frame)
    for part in ast.walk(scope) if scope is not None else ():
        if isinstance(part, (ast.For, ast.AsyncFor)) and part.lineno < frame.line:
            for inner in ast.walk(part.iter):
                if isinstance(inner, (ast.Name, ast.Attribute)):
                    yield inner
        elif isinstance(part, ast.Name) and node is not None and part.id in _divided(node):
            for binding in bindings_in(frame.file, scope or part, part.id):
                if isinstance(binding.value, ast.Call):
                    yield from (one for one in binding.value.args if isinstance(one, (ast.Name, ast.Attribute)))


def _divided(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _inside(crash: Crash, frame: Frame, node: ast.expr, value: object) -> tuple[str, str, Made, Frame] | None:
    if value is MISSING:
        return None
    if isinstance(value, HeldLoader):
        if value.samples != 0:
            return None
        files = _held_list(value.dataset)
        made = origin_of(crash, frame, node)
        return said(node), f"its dataset has no samples{files}", made, frame
    if isinstance(value, HeldItems) and value.length == 0 and value.is_a("list", "tuple", "dict"):
        return said(node), f"a {value.type} without items", origin_of(crash, frame, node), frame
    if isinstance(value, Held) and _held_list(value):
        return said(node), f"{value.type} holds no samples{_held_list(value)}", origin_of(crash, frame, node), frame
    return None


def _held_list(dataset: object) -> str:
    if not isinstance(dataset, Held) or not dataset.is_a("Dataset"):
        return ""
    empty_ = [name for name, held in dataset.attributes.items() if isinstance(held, HeldItems) and held.length == 0]
    return f" (`self.{empty_[0]}` is empty)" if empty_ else ""
