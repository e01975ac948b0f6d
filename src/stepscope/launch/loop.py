"""The stations of a training loop, as the launcher passes them: batch, backward, optimizer step. Counts and times them.

Nothing here waits for a device, so on an accelerator the times are those of the Python that drives it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary

from stepscope import fence
from stepscope.events import Installed
from stepscope.launch.iterations import Iterations

__all__ = ["Loop", "Phase"]

_FORGOTTEN = 10_000
Phase = Literal["data", "h2d", "forward", "backward", "optimizer", "other"]


class Loop:
    """Follows every loop over loaders and every optimizer of the process, from `install` to `remove`."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.steps = 0
        self.backwards = 0
        self.batches = 0
        self.samples = 0
        self.phase_s: dict[Phase, float] = dict.fromkeys(get_args(Phase), 0.0)
        self.optimizers: list[int] = []
        """Their ids in the order of their first steps: tells the two Adams of a GAN apart."""
        self.step_of: dict[int, tuple[int, int]] = {}
        """Which of them made a step, and the number it is logged under, until it was logged."""
        self.trainers_number: Callable[[], int] | None = None
        """A trainer's own number of the step that is being made; without one, steps of optimizers are counted."""
        self.before_batch: list[Callable[[Any], None]] = []
        """Called with a loader's iterator before it is asked; may end the pass or the script by raising."""
        self.on_batch: list[Callable[[Any, Any], None]] = []
        self.on_exhausted: list[Callable[[Any], None]] = []
        self.before_pass: list[Callable[[Any], None]] = []
        """Called with a loader that is about to be iterated."""
        self.loader_of: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        """The loader of each of their iterators."""
        self.before_backward: list[Callable[[], None]] = []
        self.before_step: list[Callable[[Any], None]] = []
        self.on_step: list[Callable[[Any], None]] = []
        self.on_phase: list[Callable[[Phase, float, float], None]] = []
        """Called with each stretch of a phase: its beginning and its end by the loop's clock."""
        self.iterations = Iterations(self)
        self.moved_s = 0.0
        """Time inside moves to a device since the last station: not yet taken out of the phase around it."""
        self.doing: str | None = None
        """What a trainer says that it is doing: training, validation."""
        self.losses_add_up = False
        """A trainer divides the losses of accumulated batches: the loss of a step is their sum."""
        self.last_number = self.last_optimizer = 0
        """Of the last step: the number it is logged under, and which optimizer made it."""
        self._open: WeakKeyDictionary[Any, str | None] = WeakKeyDictionary()
        """Iterators that have handed out batches and were not asked for one too many, with what they were read for."""
        self._installed = Installed()
        self._clock = clock
        self._mark = clock()
        self._depth = 0
        self._pid = os.getpid()
        self._on = False

    # -- hooks ----------------------------------------------------------------------------------------------------

    def install(self, torch: Any) -> None:
        """Stand at backward and at the optimizers. `torch` is the module the script has imported."""
        import torch.optim.optimizer as optimizers

        self._on = True
        self._mark = self._clock()
        # Before torch 2.2 the engine is called through the module that defines `backward`.
        name = "_engine_run_backward" if "_engine_run_backward" in torch.autograd.__dict__ else "backward"
        self._installed.patch(torch.autograd, name, partial(self._door, torch.autograd.__dict__[name]))
        self._installed.add(optimizers.register_optimizer_step_pre_hook(self._step_begins).remove)
        self._installed.add(optimizers.register_optimizer_step_post_hook(self._step_ends).remove)

    def install_loaders(self, module: Any) -> None:
        """Stand at the loaders. `module` is `torch.utils.data.dataloader`."""
        kind = module._BaseDataLoaderIter
        self._installed.patch(kind, "__next__", self._wrapped_next(kind.__next__))
        self._installed.patch(module.DataLoader, "__iter__", self._wrapped_iter(module.DataLoader.__iter__))

    def remove(self) -> None:
        self._on = False
        self._installed.remove()

    @property
    def is_on(self) -> bool:
        """In a forked child nothing of this is meant."""
        return self._on and os.getpid() == self._pid

    def _wrapped_next(self, ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @wraps(ask)
        def __next__(iterator: Any) -> Any:
            if not self.is_on:
                return ask(iterator)
            _ask(self.before_batch, iterator)
            self._leave("other")
            self.iterations.batch_is_asked(iterator)
            try:
                batch = ask(iterator)
            except StopIteration:
                self._leave("data")
                self.iterations.pass_is_over()
                self._open.pop(iterator, None)
                _tell(self.on_exhausted, iterator)
                raise
            self._leave("data")
            self._note_batch(iterator, batch)
            return batch

        return __next__

    def _wrapped_iter(self, start: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @wraps(start)
        def __iter__(loader: Any) -> Any:
            if not self.is_on:
                return start(loader)
            _ask(self.before_pass, loader)
            iterator = start(loader)
            self._note_pass(iterator, loader)
            return iterator

        return __iter__

    @fence.fenced("noting a pass over a loader")
    def _note_pass(self, iterator: Any, loader: Any) -> None:
        self.loader_of[iterator] = loader

    @fence.fenced("noting a batch")
    def _note_batch(self, iterator: Any, batch: Any) -> None:
        self.batches += 1
        self.samples += samples_in(batch)
        self._open[iterator] = self.doing
        self.iterations.batch_is_given(iterator)
        _tell(self.on_batch, iterator, batch)

    def _door(self, run: Any, roots: Any, *args: Any, **kwargs: Any) -> Any:
        if not self.is_on or self._depth or not kwargs.get("accumulate_grad", True):
            return run(roots, *args, **kwargs)
        _ask(self.before_backward)
        self._leave("forward")
        self.iterations.backward_begins()
        self._depth += 1
        try:
            return run(roots, *args, **kwargs)
        finally:
            self._depth -= 1
            self.backwards += 1
            self._leave("backward")

    def _step_begins(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self.is_on:
            return
        _ask(self.before_step, optimizer)
        self._note_step(optimizer)
        self._leave("other")

    @fence.fenced("noting a step")
    def _note_step(self, optimizer: Any) -> None:
        if id(optimizer) not in self.optimizers:
            self.optimizers.append(id(optimizer))
        if len(self.step_of) > _FORGOTTEN:  # nobody asks for them
            self.step_of.clear()
        number = None if self.trainers_number is None else fence.call("asking a trainer", self.trainers_number)
        self.last_number = self.steps if number is None else number
        self.last_optimizer = self.optimizers.index(id(optimizer))
        self.step_of[self.steps] = self.last_optimizer, self.last_number

    def step_begins(self) -> None:
        """A trainer says that a step begins."""
        if self.is_on and self.iterations.number is None and not self.iterations.is_aside:
            self._leave("other")
            self.iterations.begin()

    def pass_is_over(self) -> None:
        """A trainer says that its pass over the data is over; its loaders may not have been asked beyond the end."""
        self.iterations.pass_is_over()
        for iterator in [one for one, doing in list(self._open.items()) if doing == self.doing]:
            del self._open[iterator]
            _tell(self.on_exhausted, iterator)

    def _step_ends(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self.is_on:
            return
        self.steps += 1
        self._leave("optimizer")
        _tell(self.on_step, optimizer)
        self.iterations.step_is_made()

    def _leave(self, phase: Phase) -> None:
        """What passed since the last station was `phase`."""
        now, before = self._clock(), self._mark
        self._mark = now
        moved = min(self.moved_s, now - before)
        if moved:
            self.phase_s["h2d"] += moved
            self.moved_s = 0.0
        self.phase_s[phase] += now - before - moved
        if self.on_phase:
            _tell(self.on_phase, phase, before, now)

    def moved(self, began: float, ended: float) -> None:
        """A tensor was moved to a device in this time."""
        if self.is_on:
            self.moved_s += ended - began
            if self.on_phase:
                _tell(self.on_phase, "h2d", began, ended)

    def forget_time(self) -> None:
        """What passed since the last station was ours, not the script's."""
        self._mark = self._clock()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """For our own probes: what runs inside is not the script's."""
        on, self._on = self._on, False
        try:
            yield
        finally:
            self._on = on
            self._mark = self._clock()


def _ask(listeners: list[Callable[..., None]], *what: Any) -> None:
    """Tell listeners that may end the pass (StopIteration) or the script (no `Exception`); their faults end nothing."""
    for listener in listeners:
        try:
            listener(*what)
        except StopIteration:
            raise
        except Exception as fault:
            fence.report("following the loop", fault)


def _tell(listeners: list[Callable[..., None]], *what: Any) -> None:
    for listener in listeners:
        try:
            listener(*what)
        except Exception as fault:
            fence.report("following the loop", fault)


def samples_in(batch: Any) -> int:
    """How many samples a batch holds, by the first dimension of its first tensor; 0 when there is none.

    >>> import torch
    >>> samples_in({"x": torch.zeros(8, 3)}), samples_in([torch.zeros(4, 2)]), samples_in("text"), samples_in([1, 2])
    (8, 4, 0, 0)
    """
    for _ in range(4):
        if type(batch) in (list, tuple) and batch:  # what most loaders give
            batch = batch[0]
        elif hasattr(batch, "shape"):
            return int(batch.shape[0]) if len(batch.shape) else 0
        elif isinstance(batch, dict) or hasattr(batch, "values"):
            batch = next(iter(batch.values()), None)
        elif isinstance(batch, list | tuple) and batch:
            batch = batch[0]
        else:
            return 0
    return 0
