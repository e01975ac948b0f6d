"""The cadence of the pulse: how often its numbers are taken in full."""

from __future__ import annotations

from collections.abc import Callable

from stepscope.common import clocks

LONGEST_STRIDE = 16
"""The longest in the first thousands of steps, and always on a device. Strides are powers of two."""
_MOST_STRIDE = 128
_POINTS = 64
"""A stride of 32, 64 or 128 comes after at least this many times as many steps."""
_RECKONED_EVERY = 100
_SHORT = 8
_SHARE = 0.008


class Cadence:
    """How often the pulse of a step is taken in full, so that it stays a small part of the step.

    Every step at first. Then, by CPU time of the thread: every second, fourth, eighth or sixteenth step where steps are
    so short that the pulse would be more than a hundredth of them, and after thousands of such steps every 32nd, 64th
    or 128th. A loss that is not finite is seen at every step.
    """

    def __init__(self, clock: Callable[[], float] = clocks.thread_time) -> None:
        self.stride = 1
        self.skips = False
        """The step that follows is one of many very short ones that nothing is kept of."""
        self.on_skips: Callable[[bool], None] | None = None
        """Told when `skips` changes."""
        self.together = 1
        """How many steps in a row have a pulse: those of each optimizer of a GAN."""
        self.is_on_device = False
        """Losses come from a device, some steps late: the governor counts on those of every sixteenth step."""
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
        skips = self.stride >= _SHORT and (self._count + 1) % self.stride >= self.together
        if skips != self.skips:
            self.skips = skips
            if self.on_skips is not None:
                self.on_skips(skips)
        return self._count % self.stride < self.together

    def took(self, cpu_s: float) -> None:
        """What taking it once has cost."""
        self._cost_s += cpu_s
        self._felt += 1

    @property
    def _longest(self) -> int:
        longest = LONGEST_STRIDE
        while not self.is_on_device and longest < _MOST_STRIDE and self._count >= 2 * longest * _POINTS:
            longest *= 2
        return longest

    def _reckon(self) -> None:
        now = self._clock()
        if self._count > _RECKONED_EVERY and self._felt:
            step_s = (now - self._mark) / _RECKONED_EVERY
            cost_s = self._cost_s / self._felt
            wanted = 1
            while wanted < self._longest and cost_s / wanted > _SHARE * step_s:
                wanted *= 2
            if wanted > self.stride or wanted * 4 <= self.stride:  # not back and forth
                self.stride = wanted
        self._mark, self._cost_s, self._felt = now, 0.0, 0
