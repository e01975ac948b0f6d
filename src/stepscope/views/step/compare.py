"""Two recordings side by side: which op's output changed most.

Ops are matched by identity (phase, module, call, name, and occurrence), so a step that took a different path is
compared where both overlap. An output's change is the larger of two: how many standard deviations its mean moved, and
how often its standard deviation doubled or halved. Outputs that are no longer finite come first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import msgspec

from stepscope.views.context import Context
from stepscope.views.route import route
from stepscope.views.step.op import OpRow, TensorStats, is_bad_stats, op_row, stats_of

if TYPE_CHECKING:
    from stepscope.records.step import Op
    from stepscope.views.step.open_steps import OpenStep

MAX_ROWS = 300
_LEAST = 1e-12
"""A smaller standard deviation is not meaningful."""


class StepCompareRequest(msgspec.Struct):
    run: str
    key: str
    step: int
    before_key: str
    before_step: int
    before_run: str | None = None
    """None: the same run."""
    part: Literal["", "forward", "backward", "optimizer"] = ""
    """Only ops of this part of the step; forward includes the loss and everything that is neither backward nor
    optimizer.
    """


class OpChange(msgspec.Struct):
    row: OpRow
    """The op in the newer recording."""
    before: TensorStats
    after: TensorStats
    amount: float | None
    """How far it moved; None: it was finite and no longer is, or vice versa."""
    said: str


class StepComparison(msgspec.Struct):
    changes: list[OpChange]
    """Largest first."""
    compared: int
    """Ops with statistics in both."""
    matched: int
    only_before: int
    only_after: int
    note: str = ""
    """Why nothing can be compared."""


@route("POST", "/api/step/compare")
def step_compare(ctx: Context, request: StepCompareRequest) -> StepComparison:
    """The outputs of one recording's ops compared with those of another."""
    folder = ctx.runs.get(request.run)
    other = folder if request.before_run is None else ctx.runs.get(request.before_run)
    after = ctx.steps.get(folder, request.key, request.step)
    before = ctx.steps.get(other, request.before_key, request.before_step)
    with after.lock:
        return _compared(before, after, request.part)


def _compared(before: OpenStep, after: OpenStep, part: str) -> StepComparison:
    old, new = (_by_signature(op for op in one.record.ops if part in ("", _part(op))) for one in (before, after))
    both = [signature for signature in new if signature in old]
    found: list[tuple[float, int, TensorStats, TensorStats]] = []
    compared = 0
    for signature in both:
        pairs = list(_pairs(old[signature], new[signature]))
        compared += bool(pairs)
        if pairs:
            moved, was, now = max(((change_between(was, now), was, now) for was, now in pairs), key=lambda one: one[0])
            if moved > 0:
                found.append((moved, new[signature].index, was, now))
    found.sort(key=lambda one: (-one[0], one[1]))
    return StepComparison(
        changes=[
            OpChange(
                row=op_row(after, index, after.lines[index].bad, None),
                before=was,
                after=now,
                amount=None if math.isinf(moved) else moved,
                said=_said(was, now),
            )
            for moved, index, was, now in found[:MAX_ROWS]
        ],
        compared=compared,
        matched=len(both),
        only_before=len(old) - len(both),
        only_after=len(new) - len(both),
        note="" if compared else _why_not(before, after, bool(both)),
    )


def _part(op: Op) -> str:
    return op.phase if op.phase in ("backward", "optimizer") else "forward"


def _why_not(before: OpenStep, after: OpenStep, matched: bool) -> str:
    if not matched:
        return "The two recordings share no op: they are of different models or code."
    without = [f"step {one.media.step}" for one in (before, after) if not one.has_stats]
    return f"{' and '.join(without) or 'One of them'} was recorded without values; record with stats=True."


Signature = tuple[str, str | None, int, str, int]


def _by_signature(ops: Iterable[Op]) -> dict[Signature, Op]:
    seen: dict[tuple[str, str | None, int, str], int] = {}
    found: dict[Signature, Op] = {}
    for op in ops:
        key = (op.phase, op.module, op.call, op.name)
        nth = seen[key] = seen.get(key, -1) + 1
        found[op.phase, op.module, op.call, op.name, nth] = op
    return found


def _pairs(old: Op, new: Op) -> Iterable[tuple[TensorStats, TensorStats]]:
    for was, now in zip(old.output_stats or (), new.output_stats or (), strict=False):
        left, right = stats_of(was), stats_of(now)
        if left is not None and right is not None:
            yield left, right


def change_between(was: TensorStats, now: TensorStats) -> float:
    """How far an output moved; infinite if one of the two is not finite.

    >>> change_between(TensorStats(numel=4, mean=0.0, std=1.0), TensorStats(numel=4, mean=0.5, std=4.0))
    2.0
    """
    if is_bad_stats(was) != is_bad_stats(now):
        return math.inf
    return max(_mean_moved(was, now), abs(_doublings(was, now)))


def _mean_moved(was: TensorStats, now: TensorStats) -> float:
    if was.mean is None or now.mean is None:
        return 0.0
    moved = abs(now.mean - was.mean)
    spread = max(was.std or 0.0, now.std or 0.0)
    if spread > _LEAST:
        return moved / spread
    largest = max(abs(was.mean), abs(now.mean))  # a single number has no spread: use its relative change
    return moved / largest if largest > _LEAST else 0.0


def _doublings(was: TensorStats, now: TensorStats) -> float:
    if was.std is None or now.std is None or min(was.std, now.std) <= _LEAST:
        return 0.0
    return math.log2(now.std / was.std)


def _said(was: TensorStats, now: TensorStats) -> str:
    if is_bad_stats(now) != is_bad_stats(was):
        bad, sign = (now, "became") if is_bad_stats(now) else (was, "was")
        return f"{sign} {'NaN' if bad.nan else 'Inf'}"
    moved, doubled = _mean_moved(was, now), _doublings(was, now)
    if abs(doubled) >= moved:
        return f"std ×{2**doubled:.3g}"
    spread = max(was.std or 0.0, now.std or 0.0) > _LEAST
    return f"mean moved by {moved:.3g} std" if spread else f"moved by {100 * moved:.3g}%"
