"""Cuts steps into parts that sum to the step: each moment belongs to the first part that covers it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.intervals import Stretches
from stepscope.profile.trace.step_spans import StepSpan
from stepscope.records.profile import Check, Part, StepParts

Ints = npt.NDArray[Any]

ODD = 1.5
"""A first step this many times as long as the median of the others is warm-up."""


@dataclass(frozen=True)
class Cover:
    """A part of a step, and when it was active."""

    key: str
    label: str
    help: str
    when: Stretches


def first_is_odd(walls: Sequence[int]) -> bool:
    """Whether the first step is warm-up: too long to say anything of the others.

    >>> first_is_odd([90, 30, 31]), first_is_odd([31, 30, 29]), first_is_odd([90, 30])
    (True, False, False)
    """
    return len(walls) >= 3 and walls[0] > ODD * median(walls[1:])


def cut_steps(
    id: str,
    title: str,
    steps: Sequence[StepSpan],
    covers: Sequence[Cover],
    rest: Part,
    notes: Sequence[str] = (),
    shown: Sequence[str] = (),
) -> StepParts:
    """Steps by part. Earlier covers win where several are active; what none covers is `rest`.

    `shown`: the keys in the order to show them in, where that is not the order in which they win.
    """
    begins = np.array([step.begin_ns for step in steps], np.int64)
    ends = np.array([step.end_ns for step in steps], np.int64)
    columns, parts = [], []
    so_far = Stretches(np.zeros(0, np.int64), np.zeros(0, np.int64))
    before = np.zeros(len(steps), np.int64)
    for cover in covers:
        so_far = so_far | cover.when
        after = so_far.within(begins, ends)
        columns.append(after - before)
        parts.append(Part(key=cover.key, label=cover.label, help=cover.help))
        before = after
    if shown:
        order = [[part.key for part in parts].index(key) for key in shown]
        columns, parts = [columns[i] for i in order], [parts[i] for i in order]
    walls = ends - begins
    table = np.stack([*columns, walls - before], axis=1)
    odd = first_is_odd(walls.tolist())
    typical = slice(1 if odd else 0, None)
    p50, p90, p99 = (_percentile(walls[typical], percent) for percent in (50, 90, 99))
    return StepParts(
        id=id,
        title=title,
        parts=[*parts, rest],
        steps=[step.number for step in steps],
        wall_ns=walls.tolist(),
        parts_ns=table.tolist(),
        first_is_odd=odd,
        typical_ns=[int(value) for value in np.rint(table[typical].mean(axis=0))],
        p50_ns=p50,
        p90_ns=p90,
        p99_ns=p99,
        checks=_checks(table, walls),
        notes=[*notes, *_step_notes(steps, walls.tolist(), odd)],
    )


def _percentile(values: Ints, percent: float) -> int:
    """As numpy's, between the two nearest values; numpy's own imports masked arrays first, for 10 ms."""
    ordered = np.sort(values)
    return int(np.interp(percent / 100 * (len(ordered) - 1), np.arange(len(ordered)), ordered))


def _checks(table: Ints, walls: Ints) -> list[Check]:
    got, expected = int(table.sum()), int(walls.sum())
    whole = bool((table >= 0).all()) and bool((table.sum(axis=1) == walls).all())
    return [Check(name="parts sum to the step", got=got, expected=expected, ok=whole, detail=f"{len(walls)} steps")]


def _step_notes(steps: Sequence[StepSpan], walls: Sequence[int], odd: bool) -> list[str]:
    notes = []
    if odd:
        slower = walls[0] / max(1, median(walls[1:]))
        notes.append(f"the first step took {slower:.1f}x as long as the others and is left out of the typical step")
    if steps and steps[0].inferred:
        if len(steps) == 1:
            notes.append("the trace has no step marks: all of it counts as one step")
        else:
            notes.append("the trace has no step marks: steps reach from one optimizer step to the next")
    return notes
