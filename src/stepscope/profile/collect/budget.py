"""How much a window may record: options and steps chosen from one probe step, so that memory and time stay bounded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from stepscope.profile.collect.torch_window import WindowOptions

__all__ = ["Asked", "Budget", "CallCounter", "Chosen", "Probe", "choose"]

BYTES_PER_EVENT = 2_700
"""Of the process's memory, while torch.profiler stops."""
MEMORY_SHARE = 0.25
MEMORY_EVENTS = 0.6
"""Allocations and frees beside a hundred operators: measured 45 to 55."""
TYPICAL_STEPS, MOST_STEPS = 3, 5
WINDOW_S = 60.0


@dataclass(frozen=True)
class Asked:
    """What the user wants recorded; None: as the budget allows."""

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
    """As much as fits: first without Python calls, then without memory and shapes, is a step made to fit."""
    if probe is None:
        options = WindowOptions(
            record_shapes=asked.record_shapes is not False,
            profile_memory=asked.profile_memory is not False,
            with_stack=bool(asked.with_stack),
            cuda_history=asked.profile_memory is True,
        )
        return Chosen(options, asked.steps or TYPICAL_STEPS, [])
    said: list[str] = []
    room = budget.events
    base, stacks = probe.events, _stack_events(probe)
    memory = asked.profile_memory is not False and (asked.profile_memory is True or base * (1 + MEMORY_EVENTS) <= room)
    shapes = asked.record_shapes is not False and (asked.record_shapes is True or base <= room)
    events = base * (1 + MEMORY_EVENTS * memory)
    stack = asked.with_stack is not False and (
        asked.with_stack is True or (stacks is not None and events + stacks <= room)
    )
    if asked.with_stack is None and not stack:
        said.append(_without_stacks(stacks, room))
    if asked.profile_memory is None and not memory:
        said.append(f"memory was left out: a step has about {base:,} events, and at most {room:,} are recorded")
    events += (stacks or 0) * stack
    steps = asked.steps or _fitting(room, events, probe.wall_s)
    options = WindowOptions(
        record_shapes=shapes, profile_memory=memory, with_stack=stack, cuda_history=asked.profile_memory is True
    )
    return Chosen(options, steps, said)


def _fitting(room: int, events: float, wall_s: float) -> int:
    by_events = int(room // max(events, 1))
    by_time = int(WINDOW_S // max(wall_s, 1e-6))
    return max(1, min(MOST_STEPS, by_events, by_time))


def _stack_events(probe: Probe) -> int | None:
    return probe.calls


def _without_stacks(stacks: int | None, room: int) -> str:
    if stacks is None:
        return "Python calls were left out: another profiler or debugger follows them"
    return f"Python calls were left out: a step makes about {stacks:,}, and at most {room:,} events are recorded"


class CallCounter:
    """Counts the calls of Python functions in this thread, for one step."""

    def __init__(self) -> None:
        self.calls = 0
        self._ticks: count[int] | None = None
        self._hook: Callable[..., None] | None = None

    def start(self) -> bool:
        """Whether it could: not when somebody else watches calls already."""
        if sys.getprofile() is not None:
            return False
        ticks = self._ticks = count()

        def hook(frame: Any, event: str, arg: Any) -> None:
            if event == "call" or event == "c_call":
                next(ticks)

        self._hook = hook
        sys.setprofile(hook)
        return True

    def stop(self) -> None:
        if self._hook is not None and sys.getprofile() is self._hook:
            sys.setprofile(None)
        if self._ticks is not None:
            self.calls = next(self._ticks)
        self._ticks = self._hook = None


def free_bytes() -> int | None:
    """Memory the process could still take."""
    import psutil

    return int(psutil.virtual_memory().available)
