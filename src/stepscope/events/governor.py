"""The governor: how deep we look now, and what was looked at.

Looking has a price. Each event has one, in CPU seconds on an ordinary machine, and a window of close looking is over
when its budget is spent. Prices are constants, so the same script is looked at in the same places on a quiet and on a
busy machine. Measured CPU time of the thread is the second bound, four times as wide: values of a huge tensor cost more
than their event's price. Wall time decides nothing.

    deep    from the start, until the evidence of a few steps is complete or the budget is spent
    pulse   after that: loss, gradient norm, learning rate, phases, data wait, memory
    wake    deep again for a few steps, when something is new or looks wrong, or somebody asks

What the clock or the user asks for only adds windows: it never takes the place of one that comes by steps and values.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stepscope.common import clocks
from stepscope.events.cadence import LONGEST_STRIDE
from stepscope.events.triggers import LossTrigger, StepTimeTrigger

PRICES = {
    "op": 45e-6,
    "module": 35e-6,
    "model": 100e-6,
    "backward": 600e-6,
    "step": 1.2e-3,
    "batch": 150e-6,
    "read": 60e-6,
}
"""CPU seconds that the watch takes for one event, on an ordinary machine; bench/prices.py measures them."""
_VALUES_A_SECOND = 4e8
"""Values of tensors that are read in a second."""
_SETUP_S = 0.05
"""Before anything trains: models are built, data is prepared; a script that only evaluates stays in this."""
_START_S = 0.30
"""The first steps of a training."""
_WAKE_S = 0.06
_FEWEST_STEPS, _MOST_STEPS = 4, 100
_WAKE_STEPS, _WAKE_BATCHES = 2, 4
_ALIKE_CALLS = 32
"""Before anything trains, calls of one model from one line with the same shapes."""
_MARGIN = 4.0
_SCHEDULE = (1, 2, 5)


@dataclass
class Window:
    """A stretch of close looking."""

    why: str
    first: int
    """The optimizer step during which it began, counted from 1."""
    last: int | None = None
    """The step during which it ended; None while it lasts."""
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
    is_alarm: bool = False
    """Something looked wrong, or somebody asked."""
    is_extra: bool = False
    """The clock or the user wanted it: it makes way for a window that comes by steps and values."""


@dataclass
class Governor:
    """One for each watch. `deepen` is called with True when a window opens and with False when it ends."""

    deepen: Callable[[bool], None]
    cpu: Callable[[], float] = clocks.thread_time
    scale: float = 1.0
    """How much more than usual may be spent (`stepscope check` looks twice as long)."""
    windows: list[Window] = field(default_factory=list)
    step: int = 0
    is_deep: bool = False
    """A window is open. Asked at every event."""
    closed: str | None = None
    """Why nothing can be watched in detail any more."""
    _open: Window | None = None
    is_training: bool = False
    _due: int = 0
    _passes: dict[Any, int] = field(default_factory=dict)
    _late: tuple[int, str] | None = None
    """The step after which a window is to open, and why: what was seen on a device is known some steps later."""
    _losses: LossTrigger = field(default_factory=LossTrigger)
    _times: StepTimeTrigger = field(init=False)

    def __post_init__(self) -> None:
        self._times = StepTimeTrigger(self.cpu)

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
        """An event was watched in detail; whether the budget of the window is spent now."""
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
        elif self.step % LONGEST_STRIDE < 2:
            slower = self._times.stepped(self.step)
            if slower is not None:
                self.alarm(slower, "step time", is_extra=True)
        if self.step >= self._due and self._is_free:
            self._wake(f"step {self.step}", _WAKE_S, fewest=_WAKE_STEPS, most=_WAKE_STEPS)
        if self._late is not None and self.step >= self._late[0]:
            why, self._late = self._late[1], None
            self.alarm(why, "loss")

    def felt(self, loss: float) -> None:
        """The loss of the step that is being made."""
        why = self._losses.saw(self.step + 1, loss)
        if why is not None:
            self.alarm(why, "loss")

    def felt_late(self, step: int, loss: float) -> None:
        """The loss of an earlier step has come from a device; those that are always sent (`LONGEST_STRIDE`) count.

        When it comes depends on how busy the device is, so the window opens a fixed number of steps after the loss.
        """
        if step % LONGEST_STRIDE == 0:
            why = self._losses.saw(step, loss)
            if why is not None:
                self._late = step + 2 * LONGEST_STRIDE, why

    def at_rest(self) -> None:
        """A model has returned, or a batch has come: a window that is over its budget and takes no steps ends here."""
        window = self._open
        if window is not None and not window.fewest and self._is_over(window):
            self._end("the budget")

    def saw_alike(self, calls: int) -> None:
        """A model was called without gradients, so often in the same way: after enough calls nothing in it is new."""
        window = self._open
        if window is None or self.is_training or math.isinf(window.budget_s):
            return
        if calls >= _ALIKE_CALLS * self.scale:
            self._end("complete")

    def batch(self) -> None:
        window = self._open
        if window is not None and window.batches is not None:
            window.batches -= 1
            if window.batches < 0:
                self._end("complete")

    def new(self, what: str, key: Any) -> None:
        """Something is there for the first, second, fifth, tenth ... time: a loader's pass, an optimizer."""
        seen = self._passes[key] = self._passes.get(key, 0) + 1
        if _is_round(seen) and self._is_free:
            self._wake(what, _WAKE_S, batches=_WAKE_BATCHES, fewest=0, most=_WAKE_STEPS)

    def alarm(self, why: str, kind: str = "value", *, is_extra: bool = False) -> None:
        """Something looks wrong: the next steps are looked at, the first, second, fifth, tenth ... time."""
        if self._open is not None and (is_extra or not self._open.is_extra):
            return
        seen = self._passes[kind] = self._passes.get(kind, 0) + 1
        if _is_round(seen):
            self._wake(why, _WAKE_S, fewest=_WAKE_STEPS + 1, most=_WAKE_STEPS + 1)
            self._mark_alarm(is_extra)

    def asked(self, why: str) -> None:
        """Somebody wants the next steps looked at."""
        window = self._open
        if window is None:
            self._wake(why, _WAKE_S, fewest=_WAKE_STEPS + 1, most=_WAKE_STEPS + 1)
            self._mark_alarm(is_extra=True)
        else:
            window.why = f"{window.why}; {why}"
            window.is_alarm = True
            window.fewest = max(window.fewest, window.steps + _WAKE_STEPS + 1)
            window.most = max(window.most, window.fewest)

    def _mark_alarm(self, is_extra: bool) -> None:
        if self._open is not None:
            self._open.is_alarm, self._open.is_extra = True, is_extra

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
        if self._open is not None:
            self._end("another")
        self._open = Window(why, self.step + 1, budget_s=budget_s * self.scale, fewest=fewest, most=most)
        self._open.batches = batches
        self.windows.append(self._open)
        self.is_deep = True
        self.deepen(True)

    @property
    def _is_free(self) -> bool:
        """Whether a window may open by steps or values."""
        return self._open is None or self._open.is_extra

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
            if not window.is_extra:
                self._due = _after(self.step)
            self._times.forget()
            self.is_deep = False
            self.deepen(False)

    # In words

    def coverage(self) -> list[tuple[int, int]]:
        """The ranges of steps that were watched in detail, joined where they touch."""
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
