"""The governor: how deep we look now, and what was looked at.

Looking has a price. Each event has one, in CPU seconds on an ordinary machine, and a window of close looking is over
when its budget is spent. Prices are constants, so the same script is looked at in the same places on a quiet and on a
busy machine. Measured CPU time of the thread is the second bound, four times as wide: values of a huge tensor cost more
than their event's price. Wall time decides nothing.

    deep    from the start, until the evidence of a few steps is complete or the budget is spent
    pulse   after that: loss, gradient norm, learning rate, phases, data wait, memory
    wake    deep again for a few steps, when something is new or looks wrong, or somebody asks
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["PRICES", "Cadence", "Governor", "Window"]

PRICES = {
    "op": 45e-6,
    "module": 35e-6,
    "model": 100e-6,
    "backward": 600e-6,
    "step": 1.2e-3,
    "batch": 150e-6,
    "read": 60e-6,
}
"""CPU seconds that the watch takes for one event, on an ordinary machine (bench/overhead.py measures them)."""
_VALUES_A_SECOND = 4e8
"""Values of tensors that are read in a second."""
_SETUP_S = 0.05
"""Before anything trains: models are built, data is prepared; a script that only evaluates stays in this."""
_START_S = 0.30
"""The first steps of a training."""
_WAKE_S = 0.06
_FEWEST_STEPS, _MOST_STEPS = 4, 100
_WAKE_STEPS, _WAKE_BATCHES = 2, 4
_MARGIN = 4.0
_SCHEDULE = (1, 2, 5)
_RECKONED_EVERY = 100
_LONGEST_STRIDE = 16
_SHORT = 8
_SHARE = 0.008


@dataclass
class Window:
    """A stretch of close looking."""

    why: str
    first: int
    """The optimizer step during which it began, counted from 1."""
    last: int | None = None
    """The step during which it ended; None while it goes on."""
    budget_s: float = 0.0
    fewest: int = 0
    """Steps that are looked at whatever they cost."""
    most: int = _MOST_STEPS
    batches: int | None = None
    """Batches after which it ends, where no step is taken."""
    spent_s: float = 0.0
    cpu_s: float = 0.0
    """Measured, of this thread."""
    steps: int = 0
    ended: str = ""
    """Why: complete, or the budget."""


@dataclass
class Governor:
    """One for each watch. `deepen` is called with True when a window opens and with False when it ends."""

    deepen: Callable[[bool], None]
    cpu: Callable[[], float] = time.thread_time
    scale: float = 1.0
    """How much more than usual may be spent (`stepscope check` looks twice as long)."""
    windows: list[Window] = field(default_factory=list)
    step: int = 0
    is_deep: bool = False
    """A window is open. Asked at every event."""
    closed: str | None = None
    """Why nothing can be looked at closely any more."""
    _open: Window | None = None
    is_training: bool = False
    _mark: float = 0.0
    _due: int = 0
    _passes: dict[Any, int] = field(default_factory=dict)

    # What happens

    def begin(self) -> None:
        """The script starts."""
        self._wake("the start", _SETUP_S, batches=None, fewest=0)

    @property
    def is_exhausted(self) -> bool:
        """Far over the budget of a window that waits for no step."""
        window = self._open
        return window is not None and not window.fewest and window.spent_s > _MARGIN * window.budget_s

    def charge(self, kind: str) -> bool:
        """An event was looked at closely; whether the budget of the window is spent now."""
        window = self._open
        if window is None:
            return True
        window.spent_s += PRICES[kind]
        return window.spent_s > window.budget_s

    def read(self, values: int) -> None:
        """So many values of a tensor were looked at."""
        if self._open is not None:
            self._open.spent_s += values / _VALUES_A_SECOND

    def fetched(self, reads: int) -> None:
        """So many values were read from a device, which was waited for each time."""
        if self._open is not None:
            self._open.spent_s += reads * PRICES["read"]

    def spent(self, cpu_s: float) -> None:
        """Measured: a part of the watch took so long."""
        if self._open is not None:
            self._open.cpu_s += cpu_s

    def trains(self) -> None:
        """A backward begins, or an optimizer is made: from now on it is a training."""
        if self.is_training:
            return
        self.is_training = True
        self._end_if_exhausted()
        window = self._open
        if window is None:
            self._wake("the first steps", _START_S, fewest=_FEWEST_STEPS)
        else:
            window.why, window.fewest = "the first steps", _FEWEST_STEPS
            window.budget_s = window.spent_s + _START_S * self.scale

    def stepped(self) -> None:
        """An optimizer has stepped: windows end and begin here."""
        self.step += 1
        window = self._open
        if window is not None:
            window.steps += 1
            self._settle(window)
        elif self.step >= self._due:
            self._wake(f"step {self.step}", _WAKE_S, fewest=_WAKE_STEPS, most=_WAKE_STEPS)

    def at_rest(self) -> None:
        """A model has returned, or a batch has come: a window that is over its budget and takes no steps ends here."""
        window = self._open
        if window is not None and not window.fewest and self._is_over(window):
            self._end("the budget")

    def batch(self) -> None:
        window = self._open
        if window is not None and window.batches is not None:
            window.batches -= 1
            if window.batches < 0:
                self._end("complete")

    def new(self, what: str, key: Any) -> None:
        """Something is there for the first, second, fifth, tenth ... time: a loader's pass, an optimizer."""
        seen = self._passes[key] = self._passes.get(key, 0) + 1
        if _is_round(seen) and self._open is None:
            self._wake(what, _WAKE_S, batches=_WAKE_BATCHES, fewest=0, most=_WAKE_STEPS)

    def alarm(self, why: str) -> None:
        """Something looks wrong, or somebody asks: the next steps are looked at."""
        if self._open is None:
            self._wake(why, _WAKE_S, fewest=_WAKE_STEPS + 1, most=_WAKE_STEPS + 1)

    def rest(self) -> None:
        """End the window that is open, whatever it has left."""
        if self._open is not None:
            self._end("asked")

    def hold(self, why: str) -> None:
        """Look closely until `rest`, whatever it costs."""
        self._end_if_exhausted()
        if self._open is None:
            self._wake(why, 0.0, fewest=0)
        if self._open is not None:
            self._open.budget_s, self._open.most = math.inf, sys.maxsize

    def close(self, why: str) -> None:
        """For good: compiled code would see us."""
        self.closed = self.closed or why
        if self._open is not None:
            self._end(why)

    # Windows

    def _wake(self, why: str, budget_s: float, *, fewest: int, most: int = _MOST_STEPS, batches: Any = None) -> None:
        if self.closed is not None:
            return
        self._open = Window(why, self.step + 1, budget_s=budget_s * self.scale, fewest=fewest, most=most)
        self._open.batches = batches
        self.windows.append(self._open)
        self.is_deep = True
        self.deepen(True)

    def _is_over(self, window: Window) -> bool:
        return window.spent_s > window.budget_s or window.cpu_s > _MARGIN * window.budget_s

    def _end_if_exhausted(self) -> None:
        """Far over its budget nothing is followed any more: what comes now needs a window of its own."""
        if self.is_exhausted:
            self._end("the budget")

    def _settle(self, window: Window) -> None:
        if window.steps >= window.most * (1 if window.most == _WAKE_STEPS else self.scale):
            self._end("complete")
        elif window.steps >= window.fewest and self._is_over(window):
            self._end("the budget")

    def _end(self, ended: str) -> None:
        window, self._open = self._open, None
        if window is not None:
            window.last, window.ended = max(self.step, window.first), ended
            self._due = _after(self.step)
            self.is_deep = False
            self.deepen(False)

    # In words

    def coverage(self) -> list[tuple[int, int]]:
        """The stretches of steps that were looked at closely, joined where they touch."""
        found: list[tuple[int, int]] = []
        for window in self.windows:
            first, last = window.first, self.step if window.last is None else window.last
            if last < first or not window.steps:
                continue
            if found and first <= found[-1][1] + 1:
                found[-1] = (found[-1][0], max(last, found[-1][1]))
            else:
                found.append((first, last))
        return found


def _is_round(count: int) -> bool:
    """1, 2, 5, 10, 20, 50, 100 ..."""
    while count % 10 == 0:
        count //= 10
    return count in _SCHEDULE


def _after(step: int) -> int:
    """The next power of ten, from 100 on."""
    due = 100
    while due <= step + 10:
        due *= 10
    return due


class Cadence:
    """How often the pulse of a step is taken in full, so that it stays a small part of the step.

    Every step at first. Then, by CPU time of the thread: every second, fourth, eighth or sixteenth step where steps are
    so short that the pulse would be more than a hundredth of them. A loss that is not finite is seen at every step.
    """

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self.stride = 1
        self.skips = False
        """The step that follows is one of many very short ones that nothing is kept of."""
        self._clock = clock
        self._count = 0
        self._mark = 0.0
        self._cost_s = 0.0
        self._felt = 0

    def is_due(self) -> bool:
        """Whether this step's pulse is taken; asked once a step."""
        self._count += 1
        if self._count % _RECKONED_EVERY == 0:
            self._reckon()
        self.skips = self.stride >= _SHORT and (self._count + 1) % self.stride != 0
        return self._count % self.stride == 0

    def took(self, cpu_s: float) -> None:
        """What taking it once has cost."""
        self._cost_s += cpu_s
        self._felt += 1

    def _reckon(self) -> None:
        now = self._clock()
        if self._count > _RECKONED_EVERY and self._felt:
            step_s = (now - self._mark) / _RECKONED_EVERY
            cost_s = self._cost_s / self._felt
            wanted = 1
            while wanted < _LONGEST_STRIDE and cost_s / wanted > _SHARE * step_s:
                wanted *= 2
            if wanted > self.stride or wanted * 4 <= self.stride:  # not to and fro
                self.stride = wanted
        self._mark, self._cost_s, self._felt = now, 0.0, 0
