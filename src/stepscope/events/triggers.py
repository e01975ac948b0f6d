"""What the governor wakes for: a loss that jumps, a loss that no longer falls, steps that take longer than before.

A trigger opens a window and nothing else: none of them is a finding. Margins are wide, and each trigger costs about a
comparison a step. Those of the loss depend on its values alone, so the same script wakes at the same steps everywhere.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Callable

from stepscope.events.cadence import LONGEST_STRIDE

_BLOCK = 32
_SPIKE_SPREADS, _SPIKE_SHARE = 3.0, 0.2
_FALLS_BY = 0.02
_PLATEAU_STEPS = 500
_SAMPLES, _LATE = 24, 4
_SLOWER, _SLOWER_S = 3.0, 2e-3


class LossTrigger:
    """Sees each loss; compares it with the block of losses before.

    >>> trigger = LossTrigger()
    >>> [trigger.saw(step, 1.0 + step % 2 / 10) for step in range(1, 41)] == [None] * 40
    True
    >>> trigger.saw(41, 9.0)
    'the loss jumped from 1.1 to 9 at step 41'
    """

    def __init__(self) -> None:
        self._block: list[float] = []
        self._limit = math.inf
        self._usual = 0.0
        self._best = math.inf
        self._best_step = 0
        self._due = math.inf

    def saw(self, step: int, loss: float) -> str | None:
        """Why the next steps are worth a look, or None."""
        why = None
        if self._limit < loss < math.inf:
            why = f"the loss jumped from {self._usual:.3g} to {loss:.3g} at step {step}"
            self._limit = math.inf
        block = self._block
        block.append(loss)
        return why if len(block) < _BLOCK else self._reckon(step) or why

    def _reckon(self, step: int) -> str | None:
        """A block is full: where the next one may lie, and whether the loss still falls."""
        block, self._block = sorted(filter(math.isfinite, self._block)), []
        if not block:
            return None
        self._usual, high = block[len(block) // 2], block[-1]
        self._limit = high + _SPIKE_SPREADS * (high - self._usual) + _SPIKE_SHARE * abs(self._usual)
        if self._usual < self._best - _FALLS_BY * abs(self._best) or self._best == math.inf:
            self._best, self._best_step = self._usual, step
            self._due = max(step + _PLATEAU_STEPS, 2 * step)
        elif step >= self._due:
            self._due = 2 * step
            return f"the loss has not fallen since step {self._best_step}"
        return None


class StepTimeTrigger:
    """Samples every sixteenth step in CPU time of the thread; evaluations between steps fall out by the median."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._mark: float | None = None
        self._samples: deque[float] = deque(maxlen=_SAMPLES)

    def stepped(self, step: int) -> str | None:
        """Call it after the steps 16, 17, 32, 33 ...; why the next steps are worth a look, or None."""
        if step % LONGEST_STRIDE == 0:
            self._mark = self._clock()
            return None
        began, self._mark = self._mark, None
        if began is None:
            return None
        self._samples.append(self._clock() - began)
        return self._compare(step) if len(self._samples) == _SAMPLES else None

    def _compare(self, step: int) -> str | None:
        samples = list(self._samples)
        usual, late = statistics.median(samples[:-_LATE]), statistics.median(samples[-_LATE:])
        if late < _SLOWER * usual or late - usual < _SLOWER_S:
            return None
        self._samples.clear()
        return f"steps take {late / usual:.1f} times the CPU time they took before, at step {step}"

    def forget(self) -> None:
        """The step that is being made was watched in detail: its time says nothing."""
        self._mark = None
