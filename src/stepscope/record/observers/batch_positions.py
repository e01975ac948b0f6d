"""Finds operations that depend on where in the batch a sample stands: `x + table[:x.size(0)]`.

The model is called twice in the fork of `input_perturbation`, the second time with the samples moved on by one (and
another seed). What comes of every operation must then have moved on as well, or be the same; the first that breaks this
although its inputs do not has given each sample a value of its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.names import plan_for
from stepscope.events.trials import EachOp
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.batch_positions import BatchPosition, BatchPositions
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher

_OPS = frozenset({"add", "add_", "sub", "mul", "cat", "concat"})
_LARGEST = 2**22
_MOST = 2000
_ROWS = 4


class BatchPositionObserver(Observer, BatchPositions):
    def __init__(self, watcher: Watcher) -> None:
        BatchPositions.__init__(self)
        super().__init__(watcher)

    def tried(self, visit: Visit, answer: dict[str, Any] | None) -> None:
        """What came of a trial in the fork."""
        if answer:
            site = Site(file=answer["file"], line=answer["line"], function=answer["function"])
            self.all.append(BatchPosition(visit, answer["op"], site, answer["rows"], answer["steps"]))


class _Ops:
    """Every operation of one call: its name, its place, and copies of what went in and came out."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Any, list[Any], list[Any]]] = []
        self.values = 0

    def copies(self, value: Any) -> list[Any]:
        return [raw.clone(raw.detach(one)) for one in tensors_in(value)]

    def ran(self, function: Any, given: list[Any], result: Any, frame: Any) -> None:
        made = self.copies(result)
        self.values += sum(one.numel() for one in (*given, *made))
        if self.values < _LARGEST and len(self.seen) < _MOST:
            self.seen.append((plan_for(function)[1], own_place(frame), given, made))


def placed(module: Any, there: tuple[Any, Any], moved: tuple[Any, Any], rows: int) -> dict[str, Any] | None:
    """The first operation that treats samples by their place; `there` and `moved` are (args, kwargs)."""
    if rows < _ROWS:
        return None
    runs = []
    for seed, (args, kwargs) in enumerate((there, moved)):
        torch.manual_seed(seed)
        ops = _Ops()
        with torch._C._EnableTorchFunction(), EachOp(ops.copies, ops.ran):  # observers run with modes off
            module(*args, **kwargs)
        runs.append(ops.seen)
    for (name, place, given, made), (again, _, given_then, made_then) in zip(*runs, strict=False):
        if name != again or len(given) != len(given_then) or len(made) != len(made_then):
            return None
        if name not in _OPS or place is None or not made:
            continue
        pairs = [_fate(a, b, rows) for a, b in zip(given, given_then, strict=True)]
        if sorted(pairs) != ["moved", "same"] or _fate(made[0], made_then[0], rows) != "other":
            continue
        fixed = given[pairs.index("same")]
        if fixed.dim() == made[0].dim() and fixed.shape[0] == rows and made[0].dim() > 2:
            site = place.site
            found = {"op": name, "file": site.file, "line": site.line, "function": site.function}
            return {**found, "rows": rows, "steps": int(made[0].shape[1])}
    return None


def _fate(before: Any, after: Any, rows: int) -> str:
    """How a tensor of the second call lies beside that of the first."""
    if before.shape != after.shape:
        return "other"
    if raw.equal(before, after):
        return "same"
    for axis, size in enumerate(before.shape):
        if size == rows and _is_close(before.roll(1, axis), after):
            return "moved"
    return "other"


def _is_close(one: Any, other: Any) -> bool:
    if not one.is_floating_point():
        return bool(raw.equal(one, other))
    return bool(raw.item(((one - other).abs() <= 1e-5 * (1 + one.abs())).all()))
