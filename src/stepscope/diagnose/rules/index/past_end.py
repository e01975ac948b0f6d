from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.common.units import counted
from stepscope.diagnose import edits
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.computed import length_of, whole_number
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.crash.value_origin import bound, origin_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.records.step import Site

_SAYS = (r"index out of range", r"is out of bounds for (axis|dimension) 0")


@rule("index.past-end", severity="error", needs="crash", follows=("data.*", "shape.*"))
def past_end(run: Evidence) -> Iterator[Proof]:
    """A list, array or tensor was asked for an item behind its last one.

    Why it matters: the script stops there. Counting starts at 0, so the last of n items is number n - 1.

    What to do: end the loop one item earlier if it also reads the next one; loop over the items themselves; or find out
    why there are fewer items than expected.

    How it is found: the index is computed from the values of its variables and compared with the number of items. If a
    `for` loop over `range` gave the index, its line is the cause.

    Bad:
        for i in range(len(features)):
            out = out + features[i] * features[i + 1]
    Good:
        for i in range(len(features) - 1):
            out = out + features[i] * features[i + 1]
    """
    crash = run.crash
    frame = None if crash is None else crash.last
    if crash is None or frame is None or not crash.is_a("IndexError") or not crash.says(*_SAYS):
        return
    node = frame.running
    if crash.worker is not None or not isinstance(node, ast.Subscript) or crash.frames[-1] is not frame:
        return
    first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
    length, index = length_of(frame.value_of(node.value)), whole_number(frame, first)
    if length is None or index is None or -length <= index < length:
        return
    name, asked = said(node.value), said(first)
    evidence = {"container": name, "items": length, "index": index}
    if length == 0:
        yield _empty(crash, frame, node, evidence)
        return
    computed = f"{asked} is {index}" if asked != str(index) else f"item {index} is requested"
    message = f"`{name}` has {counted(length, 'item')}, 0 to {length - 1}, and {computed}"
    loop = _loop(frame, first)
    if loop is not None and loop[1] > 0:
        place, ahead = loop
        new = f"len({name}) - {ahead}"
        yield Proof(
            where=place,
            message=f"{message} at the end of this loop",
            label=f"ends {counted(ahead, 'item')} too late",
            evidence=evidence,
            edit=edits.replace(place, f"range({new})"),
            fix=f"end it earlier: range({new})",
            related=[(crash.site, f"`{said(node)}` fails here")],
        )
        return
    made = origin_of(crash, frame, node.value)
    moved = made.binding is not None and made.site.line != frame.line
    yield Proof(
        where=crash.site,
        message=message,
        label=f"{counted(length, 'item')}, the last is {name}[{length - 1}]",
        evidence=evidence,
        fix=_fix(first, name, length, index),
        related=[(made.site, f"`{name}` comes from here")] if moved else [],
    )


def _empty(crash: Crash, frame: Frame, node: ast.Subscript, evidence: dict[str, object]) -> Proof:
    made = origin_of(crash, frame, node.value)
    moved = made.binding is not None and made.site.line != frame.line
    name = said(node.value)
    return Proof(
        where=made.site if moved else crash.site,
        message=f"`{name}` is empty, so `{said(node)}` does not exist",
        label="nothing was put into it" if moved else "empty",
        evidence=evidence,
        fix=f"find out why `{name}` stays empty (a wrong path or filter, a loop that never ran), or test `if {name}:`",
        related=[(crash.site, "its items are needed here")] if moved else [],
    )


def _loop(frame: Frame, index: ast.AST) -> tuple[Site, int] | None:
    """The `range(n)` of the loop that gave the index, and how far the index reads ahead of the loop's own number."""
    names = [one for one in ast.walk(index) if isinstance(one, ast.Name)]
    binding = bound(frame, names[0].id, frame.value_of(names[0])) if len(names) == 1 else None
    loop = None if binding is None else binding.statement
    call = loop.iter if isinstance(loop, ast.For) else None
    if not isinstance(call, ast.Call) or said(call.func) != "range" or len(call.args) != 1:
        return None
    number, at = whole_number(frame, names[0]), whole_number(frame, index)
    return None if number is None or at is None else (node_site(frame.file, call), at - number)


def _fix(index: ast.AST, name: str, length: int, at: int) -> str:
    if isinstance(index, ast.Constant):
        return f"use {name}[{length - 1}] for the last one, or find out why there are only {length}"
    if at == length and said(index) == f"len({name})":
        return f"the last item is {name}[-1]"
    if at < 0:
        return f"`{said(index)}` must be at least -{length}"
    return f"keep `{said(index)}` below len({name}); or, if {at + 1} items were expected, look where `{name}` is filled"
