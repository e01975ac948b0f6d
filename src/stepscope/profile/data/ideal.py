"""The ideal loader: a few batches, kept and handed out again and again. How fast would training be with free data?"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from stepscope.common import clocks
from stepscope.profile.data.diversion import Diversion, batch_bytes, fresh
from stepscope.record.lengths import known_length

KEEP = 8
KEEP_BYTES = 512 << 20
_WARM = 2


@dataclass
class IdealResult:
    """One loader: what a turn of its loop (a batch and what is done with it) takes, as it is and with free data."""

    dataset: str
    real_s: float | None
    """Median turn on the loader's own batches; None when there were too few."""
    free_s: float | None
    real_batches: int
    free_batches: int

    @property
    def gain(self) -> float | None:
        return self.real_s / self.free_s if self.real_s and self.free_s else None

    def text(self) -> str:
        """One sentence for the verdict."""
        if self.free_s is None or self.real_s is None:
            return f"{self.dataset}: too few batches to tell what free data would gain"
        return (
            f"{self.dataset}: {1 / self.real_s:.3g} batches/s as is, {1 / self.free_s:.3g} with free data "
            f"({self.gain:.2g}x; {self.real_batches} and {self.free_batches} batches)"
        )


@dataclass
class _Kept:
    dataset: str
    batches: list[Any] = field(default_factory=list)
    bytes: int = 0
    is_full: bool = False
    given: int = 0
    turns: dict[bool, list[float]] = field(default_factory=lambda: {False: [], True: []})
    """By whether the batch was free."""
    last: tuple[float, bool, int] | None = None


class IdealLoader:
    """Keeps the first batches of every loader and hands them out from then on; a pass stays as long as it was.

    The training is not the real one any more: its speed is what is measured, not its loss.
    """

    def __init__(self, keep: int = KEEP, clock: Callable[[], float] = clocks.perf_counter) -> None:
        self._keep = keep
        self._clock = clock
        self._kept: WeakKeyDictionary[Any, _Kept] = WeakKeyDictionary()
        self._all: list[_Kept] = []
        self._diversion = Diversion(self._give)

    def install(self, module: Any) -> None:
        """`module` is `torch.utils.data.dataloader`."""
        self._diversion.install(module)

    def remove(self) -> None:
        self._diversion.remove()

    @property
    def is_free(self) -> bool:
        """Whether any loader hands out kept batches by now."""
        return any(one.is_full for one in self._all)

    def _give(self, iterator: Any, loader: Any, ask: Callable[[], Any]) -> Any:
        kept = self._kept.get(loader)
        if kept is None:
            kept = self._kept[loader] = _Kept(type(loader.dataset).__name__)
            self._all.append(kept)
        now, number = self._clock(), int(iterator._num_yielded)
        if kept.last is not None and number > kept.last[2] and number > _WARM:
            kept.turns[kept.last[1]].append(now - kept.last[0])
        free = kept.is_full
        kept.last = (now, free, number)
        return self._again(kept, number, loader) if free else self._real(kept, ask)

    def _real(self, kept: _Kept, ask: Callable[[], Any]) -> Any:
        try:
            batch = ask()
        except StopIteration:
            kept.is_full = bool(kept.batches)
            raise
        kept.batches.append(fresh(batch))
        kept.bytes += batch_bytes(batch)
        kept.is_full = len(kept.batches) >= self._keep or kept.bytes > KEEP_BYTES
        return batch

    def _again(self, kept: _Kept, number: int, loader: Any) -> Any:
        length = known_length(loader)
        if length is not None and number >= length:
            raise StopIteration
        kept.given += 1
        return fresh(kept.batches[number % len(kept.batches)])

    def results(self) -> list[IdealResult]:
        """Of every loader that was iterated, the busiest first."""
        found = [
            IdealResult(
                dataset=one.dataset,
                real_s=_median(one.turns[False]),
                free_s=_median(one.turns[True]),
                real_batches=len(one.turns[False]),
                free_batches=len(one.turns[True]),
            )
            for one in self._all
        ]
        return sorted(found, key=lambda one: -(one.free_batches + one.real_batches))


def install_ideal(imports: Any, *, keep: int = KEEP) -> IdealLoader:
    """Put the ideal loader in place as soon as the script has imported torch's. `imports` is the launcher's."""
    ideal = IdealLoader(keep)
    imports.when("torch.utils.data.dataloader", ideal.install)
    return ideal


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if len(values) >= 3 else None
