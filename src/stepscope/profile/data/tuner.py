"""Tries settings of the training loader, one after another, while the script trains.

The script's own loop continues and never knows: each time it asks for a batch it is given one of a loader with the
settings being tried. So what is measured is what it is about: how fast this training is on this machine with them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Any

from stepscope.common import clocks
from stepscope.profile.data.diversion import Diversion, batch_bytes, fresh
from stepscope.profile.data.settings import LoaderSettings, is_sharded
from stepscope.profile.data.training_loader import TrainingLoader
from stepscope.profile.data.trial import FreeTrial, Trial, settle
from stepscope.record.lengths import known_length

_KEEP, _KEEP_BYTES = 8, 256 << 20
_ENOUGH = 0.97
"""Of the speed with free data: more workers could not be seen."""
_WORTH = 1.03
"""What another worker must bring to be worth its memory."""

_CLOSE = 1.05
"""Differences smaller than this count as equal."""


@dataclass(frozen=True)
class Budget:
    seconds: float = 60.0
    batches: int = 30
    trial_s: float = 3.0


@dataclass
class Tuner:
    """Give it the station of the loaders; it raises through `finish` when it knows enough."""

    budget: Budget
    backwards: Callable[[], int]
    """How many backward passes the script has made: tells which loader it trains on."""
    finish: Callable[[], None]
    """Ends the script; does not return."""
    say: Callable[[str], None] = lambda text: None
    batch_sizes: tuple[int, ...] = ()
    most_workers: int | None = None
    clock: Callable[[], float] = clocks.perf_counter
    trials: list[Trial] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    loader: Any = None
    """The one the script trains on, once it is known."""
    length: int | None = None
    now: Trial | None = None
    free: Trial | None = None
    again: list[Trial] = field(default_factory=list)
    """The setting of now and the best one, a second time."""
    shares: bool = True
    """Several workers would share the data, not each give all of it."""
    is_over: bool = False
    """All was tried."""

    def __post_init__(self) -> None:
        self.diversion = Diversion(self._give)
        self._training = TrainingLoader(self.backwards)
        self._kept: list[Any] = []
        self._kept_bytes = 0
        self._kept_of: Any = None
        self._trial: Trial | None = None
        self._plan: Generator[Trial, Trial, None] | None = None
        self._began = self.clock()
        self._pid = os.getpid()

    # -- the script asks for a batch ------------------------------------------------------------------------------

    def _give(self, iterator: Any, loader: Any, ask: Callable[[], Any]) -> Any:
        if os.getpid() != self._pid:
            return ask()
        if self._plan is None and not self._learn(loader):
            return self._keep(loader, ask())
        if loader is not self.loader:
            return ask()
        while True:
            if self._trial is None or self._trial.is_done or self._trial.error:
                self._next_trial()
            assert self._trial is not None
            try:
                return self._trial.next(self.diversion.own)
            except StopIteration:
                self._trial.error = "it gives no batches"
            except (
                Exception
            ) as fault:  # the pipeline's own: workers that cannot be started, a dataset that fails in one
                self._trial.error = _said(fault)

    def _learn(self, loader: Any) -> bool:
        """Whether this is the loader the script trains on, and the first steps are over."""
        if not self._training.is_it(loader):
            return False
        self.loader, self.length = loader, known_length(loader)
        self._plan = self._settings(LoaderSettings.of(loader))
        self._began = self.clock()
        return True

    def _keep(self, loader: Any, batch: Any) -> Any:
        if self.loader is None and len(self._kept) < _KEEP and self._kept_bytes < _KEEP_BYTES:
            if loader is not self._kept_of:
                self._kept, self._kept_bytes, self._kept_of = [], 0, loader
            self._kept.append(fresh(batch))
            self._kept_bytes += batch_bytes(batch)
        return batch

    def _next_trial(self) -> None:
        assert self._plan is not None
        done = self._trial
        settle()
        if done is not None:
            self._close(done)
        try:
            self._trial = next(self._plan) if done is None else self._plan.send(done)
        except StopIteration:
            self._trial, self.is_over = None, True
            self.finish()

    def _close(self, trial: Trial) -> None:
        try:
            trial.close()
        except Exception as fault:  # workers that died
            trial.error = trial.error or _said(fault)
        step = trial.step_s(self.length)
        self.say(f"{trial.label}: {trial.error or (f'{step * 1e3:.3g} ms a step' if step else 'not measured')}")

    # -- what is tried --------------------------------------------------------------------------------------------

    def _settings(self, now: LoaderSettings) -> Generator[Trial, Trial, None]:
        if self._kept:
            self.free = yield FreeTrial(self._kept, self.loader, **self._limits())
        self.now = yield from self._try(now)
        best = yield from self._try_workers(now, self.now)
        best = yield from self._try_others(best)
        for size in self.batch_sizes:
            if size != now.batch_size and self._is_time_left():
                yield from self._try(replace(best.settings, batch_size=size))
        chosen = self.best
        if chosen is not None and chosen is not self.now:  # once more, side by side: machines have moods
            if self._kept:
                again = FreeTrial(self._kept, self.loader, **self._limits())
                again.label = "once more, free data"
                done = yield again
                if self.free is None or (done.steady_s or 1e9) < (self.free.steady_s or 1e9):
                    self.free = done  # the first may have had a cold start in it
            for settings in (now, chosen.settings):
                trial = Trial(settings, self.loader, **self._limits())
                trial.label = f"once more, {trial.label}"
                self.again.append((yield trial))

    def _try(self, settings: LoaderSettings) -> Generator[Trial, Trial, Trial]:
        known = next((one for one in self.trials if one.settings == settings), None)
        if known is not None:
            return known
        done = yield Trial(settings, self.loader, **self._limits())
        self.trials.append(done)
        return done

    def _limits(self) -> dict[str, Any]:
        return {"batches": self.budget.batches, "seconds": self.budget.trial_s, "clock": self.clock}

    def _try_workers(self, now: LoaderSettings, first: Trial) -> Generator[Trial, Trial, Trial]:
        best, without_gain = first, 0
        for workers in self._worker_counts(now):
            if workers > cpu_count() and self.most_workers is None and best.settings.workers < cpu_count():
                break  # more of them than processors: only where each so far has helped, as with slow disks
            if not self._is_time_left():
                self.notes.append(f"nothing more was tried after {self.budget.seconds:g} s; --seconds allows more")
                break
            trial = yield from self._try(now.with_workers(workers))
            if self._is_better(trial, best):
                best, without_gain = trial, 0
            elif workers > best.settings.workers:
                without_gain += 1
            if without_gain >= 2 or (self._reaches_free(best) and workers > best.settings.workers):
                break
            if self._reaches_free(trial) and workers >= 1:
                break
        return best

    def _worker_counts(self, now: LoaderSettings) -> list[int]:
        most = self.most_workers if self.most_workers is not None else cpu_count()
        counts = [0, *(2**power for power in range(12) if 2**power < most), most]
        counts += [2 * most] if self.most_workers is None else []
        if not is_sharded(self.loader):
            counts, self.shares = [0, 1], False
            self.notes.append(
                f"{type(self.loader.dataset).__name__} is a stream that, as far as can be seen, does not ask which "
                "worker it runs in (torch.utils.data.get_worker_info()): two workers would give every sample twice, "
                "so only 0 and 1 were tried"
            )
        return [count for count in dict.fromkeys(counts) if count != now.workers]

    def _try_others(self, best: Trial) -> Generator[Trial, Trial, Trial]:
        """Prefetching where there are still waits, workers that stay where starting them costs, pinning with CUDA."""
        best = yield from self._try_prefetching(best)
        staying = self._worth_staying(best)
        if staying is not None and self._is_time_left():
            best = yield from self._try_instead(replace(staying.settings, persistent=True), best)
        if _has_cuda() and self._is_time_left():
            best = yield from self._try_instead(replace(best.settings, pin=not best.settings.pin), best)
        return best

    def _try_instead(self, settings: LoaderSettings, best: Trial) -> Generator[Trial, Trial, Trial]:
        """The better of the two."""
        trial = yield from self._try(settings)
        return trial if self._is_better(trial, best) else best

    def _try_prefetching(self, best: Trial) -> Generator[Trial, Trial, Trial]:
        settings = best.settings
        if not settings.workers or best.wait_s <= 0.05 * (best.steady_s or 0.0):
            return best
        for prefetch in (4, 8):
            if self._is_time_left() and prefetch != settings.prefetch:
                trial = yield from self._try(replace(settings, prefetch=prefetch))
                if not self._is_better(trial, best):
                    break
                best = trial
        return best

    def _worth_staying(self, best: Trial) -> Trial | None:
        """The setting that would be faster if its workers were not restarted in each pass."""
        fastest = self._fewest_workers_among_fastest(best)
        steady = fastest.steady_s or 0.0
        if not fastest.settings.workers or fastest.settings.persistent:
            return None
        if fastest is not best and steady * _WORTH >= (best.step_s(self.length) or 0.0):
            return None
        start_per_step = fastest.start_s / (self.length or math.inf)
        return fastest if start_per_step > 0.01 * steady else None

    def _fewest_workers_among_fastest(self, best: Trial) -> Trial:
        def steady(one: Trial) -> float:
            return one.steady_s or math.inf

        tried = [one for one in self.trials if one.settings.workers and one.turns and not one.error]
        least = min(steady(one) for one in [best, *tried])
        close = [one for one in [best, *tried] if steady(one) <= least * _CLOSE]
        return min(close, key=lambda one: (one.settings.workers, one is not best))

    # -- judging --------------------------------------------------------------------------------------------------

    def _is_time_left(self) -> bool:
        return self.clock() - self._began + self.budget.trial_s <= self.budget.seconds

    def _is_better(self, trial: Trial, best: Trial) -> bool:
        new, old = trial.step_s(self.length), best.step_s(self.length)
        if trial.error or new is None:
            return False
        if old is None:
            return True
        more = trial.settings.workers - best.settings.workers
        worth = _WORTH if more > 0 else _CLOSE if more == 0 else 1.0
        return new * worth < old

    def _reaches_free(self, trial: Trial) -> bool:
        """It is as fast as with free data, and hardly waits: one alone may be a mood of the machine."""
        free, step = (self.free.steady_s if self.free else None), trial.step_s(self.length)
        return free is not None and step is not None and free >= _ENOUGH * step and trial.wait_s <= 0.1 * step

    @property
    def best(self) -> Trial | None:
        """The fastest of those with the batch size of now; with fewer workers where that costs nothing to speak of."""
        best = None
        for trial in sorted(self.trials, key=lambda one: (one.settings.workers, one is not self.now)):
            if self.now is not None and trial.settings.batch_size != self.now.settings.batch_size:
                continue
            if not trial.error and trial.turns and (best is None or self._is_better(trial, best)):
                best = trial
        return best


def _said(fault: Exception) -> str:
    """An error in one line; of one that came from a worker, the last: its own."""
    lines = [line.strip() for line in str(fault).split("\n") if line.strip()]
    if lines and lines[0].startswith("Caught ") and "DataLoader worker" in lines[0]:
        return lines[-1][:200]
    return f"{type(fault).__name__}: {lines[0] if lines else ''}"[:200]


def cpu_count() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()
