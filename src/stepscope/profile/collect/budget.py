"""How much a window may record: options and steps chosen from one probe step, so that memory and time stay bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from stepscope.events.python_calls import follow_calls
from stepscope.profile.collect.torch_window import WindowOptions

BYTES_PER_EVENT = 2_700
"""Of the process's memory, while torch.profiler stops."""
MEMORY_SHARE = 0.25
MEMORY_EVENTS = 0.6
"""Allocations and frees beside a hundred operators: measured 45 to 55."""
TYPICAL_STEPS, MOST_STEPS = 3, 5
WINDOW_S = 60.0


@dataclass(frozen=True)
class Asked:
    """What the user wants recorded; None: as the budget allows (stacks: not)."""

    record_shapes: bool | None = None
    profile_memory: bool | None = None
    with_stack: bool | None = None
    steps: int | None = None
    """So many, whatever they cost."""
    max_events: int = 250_000


@dataclass(frozen=True)
class Probe:
    """One step, looked at with the least the profiler can record."""

    events: int
    calls: int | None
    """Of Python functions; None: could not be counted."""
    wall_s: float


@dataclass(frozen=True)
class Budget:
    max_events: int
    free_bytes: int | None = None

    @property
    def events(self) -> int:
        if self.free_bytes is None:
            return self.max_events
        return max(min(self.max_events, int(self.free_bytes * MEMORY_SHARE / BYTES_PER_EVENT)), 1_000)


@dataclass(frozen=True)
class Chosen:
    options: WindowOptions
    steps: int
    said: list[str]
    """What was left out, and why."""


def choose(asked: Asked, probe: Probe | None, budget: Budget) -> Chosen:
    """As much as fits. Python calls only on request: with them a step takes two or three times as long."""
    history, stack = asked.profile_memory is True, asked.with_stack is True
    memory, shapes = asked.profile_memory is not False, asked.record_shapes is not False
    if probe is None:
        return Chosen(WindowOptions(shapes, memory, stack, cuda_history=history), asked.steps or TYPICAL_STEPS, [])
    said: list[str] = []
    room, events = budget.events, float(probe.events)
    if asked.profile_memory is None and events * (1 + MEMORY_EVENTS) > room:
        memory = False
        said.append(
            f"allocations were left out: a step has about {probe.events:,} events, at most {room:,} are recorded"
        )
    if asked.record_shapes is None and events > room:
        shapes = False
        said.append(f"shapes were left out: a step has about {probe.events:,} events, at most {room:,} are recorded")
    events += MEMORY_EVENTS * memory * probe.events + stack * (probe.calls or 0)
    steps = asked.steps or _fitting(room, events, probe.wall_s)
    return Chosen(WindowOptions(shapes, memory, stack, cuda_history=history), steps, said)


def _fitting(room: int, events: float, wall_s: float) -> int:
    by_events = int(room // max(events, 1))
    by_time = int(WINDOW_S // max(wall_s, 1e-6))
    return max(1, min(MOST_STEPS, by_events, by_time))


class CallCounter:
    """Counts the calls of Python functions in this thread, for one step."""

    def __init__(self) -> None:
        self.calls = 0
        self._ticks: count[int] | None = None
        self._undo: Callable[[], None] | None = None

    def start(self) -> bool:
        """Whether it could: not when somebody else watches calls already."""
        ticks = count()
        self._undo = follow_calls(ticks.__next__)
        self._ticks = None if self._undo is None else ticks
        return self._undo is not None

    def stop(self) -> None:
        if self._undo is not None:
            self._undo()
        if self._ticks is not None:
            self.calls = next(self._ticks)
        self._ticks = self._undo = None


def free_bytes() -> int | None:
    """Memory the process could still take."""
    import psutil

    return int(psutil.virtual_memory().available)
