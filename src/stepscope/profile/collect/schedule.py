"""When to record: a schedule like torch.profiler's, a range of steps, or the moment when steps have settled."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

from stepscope.errors import UsageError

SKIP_STEPS = 10
MOST_SKIPPED = 25
LONG_ENOUGH_S = 1.0
TOO_LONG_S = 20.0
FEW_STEPS = 3
SETTLED_WITHIN = 0.3


class Action(Enum):
    """What to do with a step; the same four as torch.profiler.ProfilerAction."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


Schedule = Callable[[int], Action]


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Schedule:
    """Steps in turns: `skip_first` once, then again and again `wait`, `warmup`, `active`; `repeat` 0 means without end.

    Means the same as torch.profiler.schedule with these arguments.

    >>> plan = schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)
    >>> [plan(step).name for step in range(6)]
    ['NONE', 'NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise UsageError(
            f"schedule(wait={wait}, warmup={warmup}, active={active}, repeat={repeat}, skip_first={skip_first}) "
            "is not possible: at least one active step is needed, and no number may be negative"
        )

    def plan(step: int) -> Action:
        step -= skip_first
        if step < 0:
            return Action.NONE
        if skip_first_wait:
            step += wait
        turn, at = divmod(step, wait + warmup + active)
        if 0 < repeat <= turn or at < wait:
            return Action.NONE
        if at < wait + warmup:
            return Action.WARMUP
        return Action.RECORD_AND_SAVE if at == wait + warmup + active - 1 else Action.RECORD

    return plan


class StepRange(NamedTuple):
    """Steps from `first` up to, but not with, `last`, as Python counts.

    >>> StepRange.parse("20:25"), StepRange.parse("7")
    (StepRange(first=20, last=25), StepRange(first=7, last=8))
    """

    first: int
    last: int

    @classmethod
    def parse(cls, text: str, option: str = "--steps") -> StepRange:
        first, colon, last = text.partition(":")
        if first.isdecimal() and (not colon or last.isdecimal()):
            found = cls(int(first), int(last) if colon else int(first) + 1)
            if found.last > found.first:
                return found
        raise UsageError(f"{option} {text!r} is not a range of steps; use 20:25 for steps 20 to 24, or 20 for one")


def is_settled(walls_s: Sequence[float], passed_s: float, steps: int) -> bool:
    """Whether the training has found its pace, so that a few steps can represent all.

    `walls_s` are the last undisturbed steps, `passed_s` the time since the first one, `steps` how many there were.
    Ten steps at least (three where steps take seconds), a second of them, and none of them still getting faster; after
    25 steps whatever they do, since a script may be over soon.

    >>> is_settled([0.1] * 12, 5.0, 12), is_settled([0.4] * 8 + [0.1] * 4, 5.0, 12), is_settled([9.0] * 3, 27.0, 3)
    (True, False, True)
    """
    if steps >= MOST_SKIPPED or (steps >= FEW_STEPS and passed_s >= TOO_LONG_S):
        return True
    if steps < SKIP_STEPS or passed_s < LONG_ENOUGH_S:
        return False
    late, before = statistics.median(walls_s[-4:]), statistics.median(walls_s[-8:-4] or walls_s[-4:])
    return abs(late - before) <= SETTLED_WITHIN * before
