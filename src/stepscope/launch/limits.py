"""Limits on a script that has none: a number of batches, steps, epochs; then a clean end.

The script is ended by an exception at the next station of its loop, so that what follows a step (printing, the
scheduler, validation after an epoch) still happens, and its own `finally` blocks run.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from stepscope import fence
from stepscope.common import clocks
from stepscope.common.units import counted
from stepscope.events import Installed
from stepscope.launch.loader_roles import Role, Roles
from stepscope.launch.loop import Loop
from stepscope.launch.options import Amount, Limits
from stepscope.record.lengths import known_length

CHECK_TRAIN, CHECK_OTHER, CHECK_EPOCHS, CHECK_STEPS = 6, 3, 2, 24
CHECK_FINISH_S = 20.0
"""How long a check continues with one batch of each pass, to try the code after the training loop."""


def is_stop(error: BaseException | None) -> bool:
    """Whether this is how a limit ends a script.

    A plain SystemExit that carries a mark: no handler for `Exception` takes it for a fault, threads end with it
    silently, and whatever else runs scripts (an elastic agent, a framework) knows it for a good end.
    """
    return isinstance(error, SystemExit) and hasattr(error, "_stepscope_reason")


class _Plan(NamedTuple):
    """So many batches of a loader from the front; the last one too; or those kept from its first pass."""

    amount: Amount | int
    with_last: bool = False
    kept: WeakKeyDictionary[Any, list[Any]] | None = None


class _Pass:
    """One pass over a loader."""

    __slots__ = ("backwards", "loader", "taken")

    def __init__(self, loader: Any, backwards: int) -> None:
        self.loader = loader
        self.backwards = backwards
        self.taken = 0


class Limiter:
    """Holds a script to its limits, standing at the stations of its loop."""

    def __init__(
        self, limits: Limits, loop: Loop, *, check: bool = False, clock: Callable[[], float] = clocks.monotonic
    ) -> None:
        self.stopped: str | None = None
        """Why the script was ended, once it was."""
        self.roles = Roles()
        self.epochs: int = 0
        self.shortened = False
        """Passes over data for training have left batches out."""
        self.finishing: str | None = None
        """What a check has seen of the loop when it had enough; from there it goes to the script's end."""
        self._finish_by = 0.0
        self._clock = clock
        self._limits = limits
        self._check = check
        self._loop = loop
        self._passes: WeakKeyDictionary[Any, _Pass] = WeakKeyDictionary()
        self._epochs_of: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._kept: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()
        self._installed = Installed(stays_in_parent=True)
        if not limits.any and not check:
            return
        loop.before_pass.append(self._pass_begins)
        loop.before_batch.append(self._batch_is_asked)
        loop.on_batch.append(self._batch_is_given)
        loop.on_exhausted.append(self._pass_is_over)
        loop.before_backward.append(self._work_begins)
        loop.before_step.append(self._update_begins)

    def install_loaders(self, module: Any) -> None:
        """Give loaders a shorter list of batches where the limit is known beforehand: `len(loader)` then tells it."""
        if not self._limits.any and not self._check:
            return
        kind = module.DataLoader
        known = kind.__dict__["_index_sampler"]
        limiter = self

        def _index_sampler(loader: Any) -> Any:
            sampler = known.__get__(loader, type(loader))
            return (limiter._shortened(sampler, loader) if limiter._loop.is_on else None) or sampler

        self._installed.replace(f"{module.__name__}:DataLoader._index_sampler", property(_index_sampler), owner=kind)

    def remove(self) -> None:
        self._installed.remove()

    # -- shorter loaders ------------------------------------------------------------------------------------------

    @fence.fenced("limiting a loader")
    def _shortened(self, sampler: Any, loader: Any) -> Any:
        plan = self._plan(loader)
        if plan is None:
            return None
        short = _Shortened(sampler, loader, plan)
        self.shortened |= short.leaves_out and self.roles.of(loader) in ("train", None)
        return short

    def _plan(self, loader: Any) -> _Plan | None:
        """Which of its batches, where that can be said before it is iterated."""
        role = self.roles.of(loader)
        if self.finishing is not None:
            return _Plan(1)
        if self._check:
            return _Plan(CHECK_OTHER if role in ("val", "test") else CHECK_TRAIN, with_last=True)
        if self._limits.fast_dev_run is not None:
            return _Plan(self._limits.fast_dev_run, with_last=True)
        if self._limits.overfit_batches is not None and role in ("train", None):
            return _Plan(self._limits.overfit_batches, kept=self._kept)
        amount = self._amount(role)
        return None if amount is None else _Plan(amount)

    def _amount(self, role: Role | None) -> Amount | None:
        limits = self._limits
        return {"train": limits.train_batches, "val": limits.val_batches, "test": limits.test_batches}.get(role or "")

    # -- stations -------------------------------------------------------------------------------------------------

    def _pass_begins(self, loader: Any) -> None:
        fence.fenced("guessing what a loader is for")(self.roles.guess)(loader)
        if self.roles.of(loader) == "train":
            done, most = self._epochs_of.get(loader, 0), self._max_epochs
            if most is not None and done >= most:
                self._enough(f"after {counted(done, 'epoch')}", self._because("--max-epochs"))
            if self._steps_are_done:
                self._stop_for_steps()

    def _batch_is_asked(self, iterator: Any) -> None:
        current = self._passes.get(iterator)
        if current is None or getattr(iterator, "_num_yielded", 1) == 0:
            loader = self._loop.loader_of.get(iterator)
            if loader is None:
                return
            current = self._passes[iterator] = _Pass(loader, self._loop.backwards)
        elif current.taken:
            self._learn(current)
        if self._steps_are_done and self.roles.of(current.loader) == "train":
            self._stop_for_steps()
        if self._is_full(current):
            self.shortened |= self.roles.of(current.loader) == "train"
            self._pass_is_over(iterator)
            raise StopIteration

    def _learn(self, current: _Pass) -> None:
        if self._loop.backwards > current.backwards:
            self.roles.saw_backward(current.loader)
        elif current.taken >= 2:
            self.roles.saw_no_backward(current.loader)

    def _is_full(self, current: _Pass) -> bool:
        amount = self._amount(self.roles.of(current.loader))
        if amount is None or self._check or self._limits.fast_dev_run is not None:
            return False
        if amount.count is None:
            return False  # a share needs the length, and where that is known the loader was shortened
        return current.taken >= amount.count

    def _batch_is_given(self, iterator: Any, batch: Any) -> None:
        current = self._passes.get(iterator)
        if current is not None:
            current.taken += 1

    def _pass_is_over(self, iterator: Any) -> None:
        current = self._passes.get(iterator)
        if current is None or not current.taken:
            return
        if self._loop.backwards > current.backwards:
            self.roles.saw_backward(current.loader)
            self._epochs_of[current.loader] = self._epochs_of.get(current.loader, 0) + 1
            self.epochs = max(self.epochs, self._epochs_of[current.loader])
        else:
            self.roles.saw_no_backward(current.loader)
        current.taken, current.backwards = 0, self._loop.backwards

    def _work_begins(self) -> None:
        """A backward or a step beyond the limit: loops without a loader are ended here."""
        if self._steps_are_done and not (self._loop.batches and self._limits.max_steps is None):
            self._stop_for_steps()

    def _update_begins(self, optimizer: Any) -> None:
        """The second optimizer of a step still takes its turn."""
        if not self._loop.continues_step(optimizer):
            self._work_begins()

    # -- the end --------------------------------------------------------------------------------------------------

    @property
    def _max_epochs(self) -> int | None:
        if self._check:
            return CHECK_EPOCHS
        return 1 if self._limits.fast_dev_run is not None else self._limits.max_epochs

    @property
    def _max_steps(self) -> int | None:
        if self._limits.max_steps is not None:
            return self._limits.max_steps
        if self._loop.batches:
            return None
        return CHECK_STEPS if self._check else self._limits.fast_dev_run

    @property
    def _steps_are_done(self) -> bool:
        most = self._max_steps
        return most is not None and self._loop.steps >= most

    def _because(self, option: str) -> str:
        if self._check:
            return "enough for the check"
        return "--fast-dev-run" if self._limits.fast_dev_run is not None else option

    def _stop_for_steps(self) -> None:
        self._enough(f"after {counted(self._loop.steps, 'step')}", self._because("--max-steps"))

    def _enough(self, when: str, why: str) -> None:
        """A limit is reached. A check continues for a while, with one batch of each pass, to see the script's end."""
        if not self._check:
            self._stop(f"{when} ({why})")
        elif self.finishing is None:
            self.finishing = when
            self._finish_by = self._clock() + CHECK_FINISH_S
        elif self._clock() > self._finish_by:
            self._stop(f"{self.finishing} and {CHECK_FINISH_S:.0f} s more with one batch of each pass ({why})")

    def end(self, reason: str) -> None:
        """End the script here, at a station of its loop, as a limit does."""
        self._stop(reason)

    def _stop(self, reason: str) -> None:
        self.stopped = self.stopped or reason
        stop = SystemExit(0)
        stop._stepscope_reason = reason  # type: ignore[attr-defined]
        raise stop


class _Shortened:
    """The first batches of a sampler, and the last one if it is wanted; or the same few again and again."""

    def __init__(self, sampler: Any, loader: Any, plan: _Plan) -> None:
        self._sampler = sampler
        self._total = known_length(sampler)
        self._amount = plan.amount.of(self._total) if isinstance(plan.amount, Amount) else plan.amount
        # Of an iterable dataset, or of a sampler that never ends, the last one cannot be known.
        self._with_last = plan.with_last and self._total is not None
        self._kept = plan.kept
        self._loader = loader

    def __iter__(self) -> Iterator[Any]:
        if self._amount is None:
            return iter(self._sampler)
        if self._kept is not None:
            if self._loader not in self._kept:
                self._kept[self._loader] = list(itertools.islice(self._sampler, self._amount))
            return iter(self._kept[self._loader])
        return self._few()

    def _few(self) -> Iterator[Any]:
        source = iter(self._sampler)
        yield from itertools.islice(source, self._amount)
        if self._with_last:
            rest = max((self._total or 0) - (self._amount or 0), 0)
            yield from deque(itertools.islice(source, rest), maxlen=1)

    def __bool__(self) -> bool:
        return True

    @property
    def leaves_out(self) -> bool:
        """Whether there are batches that are not used; so where their number is not known."""
        return self._amount is not None and (self._total is None or self._amount + self._with_last < self._total)

    def __len__(self) -> int:
        if self._total is None or self._amount is None:
            return len(self._sampler)
        return min(self._total, self._amount + self._with_last)
