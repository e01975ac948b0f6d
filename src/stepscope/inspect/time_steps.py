"""`stepscope.time_steps`: the duration of each iteration of a training loop, by phase, without recording its ops.

The loop needs no change: the outermost module call is forward, the autograd engine backward, an optimizer's step the
update, and everything else (data, loss, logging) other. A step ends with the last update before the next forward; if
several optimizers alternate (a GAN), with the last one before the first comes again.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from threading import get_ident
from time import perf_counter_ns
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from stepscope.common.units import micros_text
from stepscope.errors import UsageError
from stepscope.events import Subscription, subscribe
from stepscope.inspect.layer_times import middle_and_spread
from stepscope.inspect.table import Row, Table

if TYPE_CHECKING:
    from torch.optim import Optimizer

_PHASES = ("forward", "backward", "update", "other")
Mark = tuple[str, int, Any]
COLUMNS = ["step", *(f"{phase}_us" for phase in _PHASES), "total_us"]


def time_steps(skip: int = 1) -> StepTimes:
    """Time the steps of the loop inside the `with` block; the first `skip` are excluded from the medians.

    >>> with stepscope.time_steps() as times:           # doctest: +SKIP
    ...     for x, y in loader:
    ...         train_step(x, y)
    >>> print(times); times.to_csv("times.csv")         # doctest: +SKIP
    """
    if skip < 0:
        raise UsageError(f"skip is {skip}; it must be 0 or more")
    return StepTimes(skip)


class StepTimes:
    """The times, one row per step: `step, forward_us, backward_us, update_us, other_us, total_us`."""

    def __init__(self, skip: int) -> None:
        self._skip = skip
        self._events: Subscription | None = None
        self._stack: list[str] = []
        self._updated = False
        self._marks: list[list[Mark]] = [[]]
        """Per update: (phase that ended here, host time, device event)."""
        self._optimizers: list[set[int]] = [set()]
        """Which optimizer made it."""
        self.steps: list[dict[str, float]] = []

    def __enter__(self) -> StepTimes:
        self._events = subscribe(
            "timing a step",
            thread=get_ident(),
            order=90,
            model_begins=self._forward_begins,
            model_ends=self._forward_ends,
            backward_begins=self._backward_begins,
            backward_ends=self._backward_ends,
            step_begins=self._update_begins,
            step_ends=self._update_ends,
        )
        self._mark("other")
        return self

    def __exit__(self, *about: Any) -> None:
        if self._events is not None:
            self._events.remove()
        if self._updated:  # what follows the last update belongs to no step
            self._marks.append([])
            self._optimizers.append(set())
        if _cuda_runs():
            torch.cuda.synchronize()
        turns = _turns(self._marks, self._optimizers)
        self.steps = _durations([marks for marks in turns if len(marks) > 1 or marks is turns[0]])
        self._marks, self._optimizers = [[]], [set()]

    def _mark(self, phase: str) -> None:
        event = None
        if _cuda_runs() and not torch.cuda.is_current_stream_capturing():
            event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
            event.record()
        self._marks[-1].append((phase, perf_counter_ns(), event))

    def _begins(self, phase: str) -> None:
        self._mark(self._stack[-1] if self._stack else "other")
        self._stack.append(phase)

    def _ends(self, phase: str) -> None:
        if self._stack and self._stack[-1] == phase:
            self._mark(self._stack.pop())

    def _forward_begins(self, call: Any) -> None:
        if self._stack:  # rerun by checkpointing in backward
            return
        if self._updated:
            self._updated = False
            self._marks.append([self._marks[-1][-1]])
            self._optimizers.append(set())
        self._begins("forward")

    def _forward_ends(self, call: Any) -> None:
        self._ends("forward")

    def _backward_begins(self, roots: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> None:
        self._begins("backward")

    def _backward_ends(self, error: BaseException | None) -> None:
        self._ends("backward")

    def _update_begins(
        self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> None:
        self._begins("update")
        self._optimizers[-1].add(id(optimizer))

    def _update_ends(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._ends("update")
        self._updated = True

    @property
    def table(self) -> Table:
        counted = self.steps[self._skip :] or self.steps
        rows = [Row(str(n), {"step": n, **{f"{k}_us": v for k, v in one.items()}}) for n, one in enumerate(self.steps)]
        totals, words = {}, []
        for phase in (*_PHASES, "total") if counted else ():
            middle, spread = middle_and_spread([one[phase] for one in counted])
            totals[f"{phase}_us"] = middle
            words.append(f"{phase} {micros_text(middle)} ± {micros_text(spread)}")
        left = f", without the first{f' {self._skip}' if self._skip > 1 else ''}" if len(counted) < len(rows) else ""
        note = f"± is the interquartile range of {len(counted)} steps{left}: {', '.join(words)}"
        title = f"{len(rows)} step{'' if len(rows) == 1 else 's'}"
        return Table(COLUMNS, rows, totals, title, [note] if counted else [], foot="median")

    def to_csv(self, path: str | Path | None = None) -> str:
        return self.table.to_csv(path)

    def to_json(self, path: str | Path | None = None) -> str:
        return self.table.to_json(path)

    def to_pandas(self) -> Any:
        return self.table.to_pandas()

    def print(self, width: int | None = None) -> None:
        self.table.print(width)

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def _cuda_runs() -> bool:
    return bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]


def _turns(marks: list[list[Mark]], optimizers: list[set[int]]) -> list[list[Mark]]:
    """The marks by iteration: updates of other optimizers before one comes again belong together."""
    turns: list[list[Mark]] = []
    updated: set[int] = set()
    for some, by in zip(marks, optimizers, strict=True):
        if updated and by and updated.isdisjoint(by):
            turns[-1] = turns[-1] + some[1:]  # the first is the last of those before
            updated |= by
        else:
            turns.append(some)
            updated = set(by)
    return turns


def _durations(steps: list[list[Mark]]) -> list[dict[str, float]]:
    """Microseconds by phase: between device events if both ends have one, else by the host's clock."""
    found = []
    for marks in steps:
        times = dict.fromkeys(_PHASES, 0.0)
        for before, after in pairwise(marks):
            both = before[2] is not None and after[2] is not None
            us = before[2].elapsed_time(after[2]) * 1000 if both else (after[1] - before[1]) / 1000
            times[after[0]] += us
        if any(times.values()):
            found.append({**times, "total": sum(times.values())})
    return found
