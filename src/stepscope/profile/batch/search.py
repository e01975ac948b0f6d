"""Which batch size to try next: upwards by doubling, then between the largest that fits and the smallest that does not.

Sizes only grow within one process, so that the peak of its memory is that of the size being tried.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

_CLOSE = 1.1
"""Between a size that fits and one that does not: near enough."""


@dataclass(frozen=True)
class Measurement:
    """One batch size in the running training."""

    size: int
    step_s: float
    wait_s: float
    """Of it, waiting for the loader."""
    peak_bytes: int
    steps: int

    @property
    def samples_s(self) -> float:
        return self.size / self.step_s


@dataclass
class Search:
    now: int
    """The script's own batch size."""
    most: int | None = None
    """No larger than this: an option, or all of the data."""
    limit_bytes: int = 0
    done: list[Measurement] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)
    """Size -> why it could not be measured."""
    out_of_memory: list[int] = field(default_factory=list)
    bound: str = ""
    """memory, data, error: why nothing larger is tried; empty while the search continues."""

    @classmethod
    def of(cls, state: dict[str, Any]) -> Search:
        """From `state`, in another process."""
        known = [Measurement(**one) for one in state["done"]]
        failed = {int(size): str(why) for size, why in state["failed"].items()}
        return cls(**{**state, "done": known, "failed": failed})

    @property
    def largest(self) -> int:
        return max((one.size for one in self.done), default=0)

    @property
    def smallest_bad(self) -> int | None:
        return min([*self.out_of_memory, *self.failed], default=None)

    def next_size(self) -> int | None:
        """The next size; None when the largest that fits is known."""
        bad = self.smallest_bad
        if not self.done and bad is None:
            return max(1, min(self.now, self.most or self.now) // 2)
        if not self.done:  # not even half of the script's own size
            return self._end("memory" if bad in self.out_of_memory else "error")
        if bad is None:
            size: int | None = self.now if self.largest < self.now else 2 * self.largest
        else:
            size = self._between(bad)
        if size is None:
            return self._end("error" if bad in self.failed else "memory")
        if self.most is not None and size > self.most:
            if self.most <= self.largest:
                return self._end("data")
            size = self.most
        return self._within_memory(size)

    def _between(self, bad: int) -> int | None:
        if bad <= _CLOSE * self.largest:
            return None
        middle = self._rounded((self.largest + bad) // 2)
        return middle if self.largest < middle < bad else None

    def _within_memory(self, size: int) -> int | None:
        """Smaller where the line through the last two peaks says that it cannot fit."""
        if len(self.done) < 2 or not self.limit_bytes:
            return size
        before, last = sorted(self.done, key=lambda one: one.size)[-2:]
        slope = (last.peak_bytes - before.peak_bytes) / (last.size - before.size)
        if slope <= 0 or last.peak_bytes + slope * (size - last.size) <= self.limit_bytes:
            return size
        fits = self._rounded(int(last.size + (self.limit_bytes - last.peak_bytes) / slope))
        return fits if fits > _CLOSE * self.largest else self._end("memory")

    def _rounded(self, size: int) -> int:
        unit = max(1, min(self.now // 4, 64))
        return size // unit * unit if size >= 4 * unit else size

    def _end(self, why: str) -> int | None:
        self.bound = why
        return None

    def state(self) -> dict[str, Any]:
        """For `of`."""
        return asdict(self)
