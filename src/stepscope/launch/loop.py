"""The stations of a training loop, as the launcher passes them: batch, backward, optimizer step. Counts and times them.

Nothing here waits for a device, so on an accelerator the times are those of the Python that drives it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary, ref

from stepscope import events, fence
from stepscope.common import clocks
from stepscope.events.same_step import SameStep
from stepscope.launch.batch_samples import samples_in
from stepscope.launch.optimizer_slots import OptimizerSlots
from stepscope.launch.step_boundaries import Iterations

__all__ = ["Loop", "Phase"]

_INNERMOST = 90
"""Closest to what happens: the work of others is not timed as the script's."""
Phase = Literal["data", "h2d", "forward", "backward", "optimizer", "other"]


class Loop:
    """Follows every loop over loaders and every optimizer of the process, from `install` to `remove`."""

    def __init__(self, clock: Callable[[], float] = clocks.perf_counter) -> None:
        self._subscription: events.Subscription | None = None
        self.steps = 0
        self.backwards = 0
        self.batches = 0
        self.samples = 0
        self.phase_s: dict[Phase, float] = dict.fromkeys(get_args(Phase), 0.0)
        self.optimizers = OptimizerSlots(lambda: self.steps)
        """In the order of their first steps: tells the two Adams of a GAN apart."""
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
        self.before_backward: list[Callable[[], None]] = Asked(self._listen)
        self.before_step: list[Callable[[Any], None]] = Asked(self._listen)
        self.on_optimizer: list[Callable[[Any], None]] = []
        """Called with an optimizer whose first step begins."""
        self.before_update: Callable[[Any], None] | None = None
        """Called once: with the optimizer that steps next, before it does."""
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
        self._clock = clock
        self.mark = clock()
        """When the last station was passed."""
        self._open_steps: list[int] = []
        """The ids of the optimizers that are stepping, the innermost last."""
        self._known: Callable[[], Any] = lambda: None
        """The optimizer that stepped last, if it is still there."""
        self._backwards_before = self._backwards_a_step = 0
        """Backwards before the last step, and how many of those were of it."""
        self._gradients = 0
        """How often gradients were computed, also by `autograd.grad`."""
        self._same_step = SameStep()
        self._counts = False
        self._pid = os.getpid()
        self._on = False

    # -- events ---------------------------------------------------------------------------------------------------

    def install(self) -> None:
        """Follow loaders, backward and optimizers, once the script has imported torch."""
        self._on = True
        self.mark = self._clock()
        self.optimizers.install()
        self._subscription = events.subscribe(
            "following the loop",
            order=_INNERMOST,
            pass_asked=self._pass_asked,
            pass_began=self._note_pass,
            batch_asked=self._batch_asked,
            batch_given=self._note_batch,
            pass_ended=self._pass_ended,
            backward_asked=self._backward_asked,
            backward_begins=self._backward_begins,
            backward_ends=self._backward_ends,
            step_asked=self._step_asked,
            step_begins=self._step_begins,
            step_ends=self._step_ends,
        )
        self._listen()

    def _listen(self) -> None:
        """Nobody is asked at stations where nobody would answer."""
        if self._subscription is None or not self._subscription.listens_to:
            return
        kinds = set(self._subscription.handlers)
        kinds -= set() if self.before_backward else {"backward_asked"}
        kinds -= set() if self.before_step else {"step_asked"}
        self._subscription.listen(*kinds)

    @property
    def is_inside_step(self) -> bool:
        """Whether an optimizer is stepping inside the step of another."""
        return len(self._open_steps) > 1

    def continues_step(self, optimizer: Any) -> bool:
        """Whether an update by this optimizer belongs to the step that another one has made last."""
        return self._same_step.continues(optimizer, self._gradients)

    def remove(self) -> None:
        self._on = False
        self.optimizers.remove()
        if self._subscription is not None:
            self._subscription.remove()

    @property
    def is_on(self) -> bool:
        """In a forked child nothing of this is meant."""
        return self._on and os.getpid() == self._pid

    def _batch_asked(self, iterator: Any) -> None:
        if not self._on:
            return
        if self.before_batch:
            _ask(self.before_batch, iterator)
        self._leave("other")
        self.iterations.batch_is_asked(iterator)

    def _pass_ended(self, iterator: Any) -> None:
        if not self._on:
            return
        self._leave("data")
        self.iterations.pass_is_over()
        self._open.pop(iterator, None)
        _tell(self.on_exhausted, iterator)

    def _pass_asked(self, loader: Any) -> None:
        if self._on:
            _ask(self.before_pass, loader)

    def _note_pass(self, loader: Any, iterator: Any, frame: Any) -> None:
        if self._on:
            self.loader_of[iterator] = loader

    def _note_batch(self, iterator: Any, batch: Any, wall_s: float, cpu_s: float) -> None:
        if not self._on:
            return
        self._leave("data")
        self.batches += 1
        self.samples += samples_in(batch)
        self._open[iterator] = self.doing
        self.iterations.batch_is_given(iterator)
        if self.on_batch:
            _tell(self.on_batch, iterator, batch)

    def _backward_asked(self, roots: Any, kwargs: Any) -> None:
        # Without an optimizer, `torch.autograd.grad` and an update by hand are the step.
        if self._on and (kwargs.get("accumulate_grad", True) or not self.optimizers):
            _ask(self.before_backward)

    def _backward_begins(self, roots: Any, args: Any, kwargs: Any, frame: Any) -> None:
        self._gradients += self._on
        self._counts = self._on and kwargs.get("accumulate_grad", True)
        if self._counts:
            self._leave("forward")
            turns = self.iterations
            if turns.number is None or not turns.has_learned:
                turns.backward_begins()

    def _backward_ends(self, error: BaseException | None) -> None:
        if self._counts:
            self._counts = False
            self.backwards += 1
            self._leave("backward")

    def _step_asked(self, optimizer: Any) -> None:
        if self._on:
            _ask(self.before_step, optimizer)

    def _step_begins(self, optimizer: Any, args: Any, kwargs: Any, frame: Any) -> None:
        if not self._on:
            return
        number = self._number_of(optimizer)
        if self._open_steps and self._open_steps[-1] == id(optimizer):  # its step before was raised out of
            self._open_steps.pop()
        self._open_steps.append(id(optimizer))
        if self._known() is not optimizer or self.trainers_number is not None:
            self.last_optimizer, number = self.identify(optimizer, False)
        self.last_number = number
        if self.before_update is not None:
            measure, self.before_update = self.before_update, None
            fence.call("measuring updates", measure, optimizer)
        self._leave("other")

    def identify(self, optimizer: Any, is_made: bool) -> tuple[int, int]:
        """Which optimizer it is, and the number its step is logged under: of the step that begins, or was made."""
        if is_made:
            return self.last_optimizer, self.last_number
        self._known = ref(optimizer)
        self.last_optimizer, is_new = self.optimizers.number_of(optimizer)
        if is_new:
            _tell(self.on_optimizer, optimizer)
        number = None if self.trainers_number is None else fence.call("asking a trainer", self.trainers_number)
        return self.last_optimizer, self._number_of(optimizer) if number is None else number

    def _number_of(self, optimizer: Any) -> int:
        """Of the step that an update by this optimizer belongs to."""
        return self.steps - self.continues_step(optimizer)

    @property
    def number_now(self) -> int | None:
        """The number of the step that is being made, once it has all its gradients; else of the last; None before."""
        since = self.backwards - self._backwards_before
        is_being_made = self.trainers_number is None and since >= max(1, self._backwards_a_step)
        if is_being_made:
            return self.steps
        return self.last_number if self.steps else None

    def _step_is_made(self) -> None:
        self.steps += 1
        self._backwards_a_step, self._backwards_before = self.backwards - self._backwards_before, self.backwards

    def forget_optimizers(self) -> None:
        """Another training begins: its first optimizer is the first."""
        self.optimizers.clear()
        self._known = lambda: None

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

    def no_longer_on_step(self, listener: Callable[[Any], None]) -> None:
        self.on_step = [one for one in self.on_step if one != listener]

    def _step_ends(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self._on:
            return
        is_new = self._same_step.updated(optimizer, self._gradients)
        if is_new:
            if self.trainers_number is None:  # gradients may have come from the closure
                self.last_number = self.steps
            self._step_is_made()
        self._leave("optimizer")
        for listener in self.on_step:
            try:
                listener(optimizer)
            except Exception as fault:
                fence.report("following the loop", fault)
        if is_new:
            self.iterations.step_is_made()
        if self._open_steps:
            self._open_steps.pop()

    def gradients_are_made(self) -> None:
        """By `torch.func`, whose gradients torch does not report as a backward; the next output is of this step."""
        if self.is_on:
            turns = self.iterations
            if turns.number is None or not turns.has_learned:
                turns.backward_begins()
            self.backwards += 1
            self._gradients += 1

    def step_by_hand(self) -> int:
        """The script has changed its weights without an optimizer; the number of that step."""
        self.last_number = self.steps
        self._step_is_made()
        self._leave("optimizer")
        _tell(self.on_step, None)
        self.iterations.step_is_made()
        return self.last_number

    def _leave(self, phase: Phase) -> None:
        """What passed since the last station was `phase`."""
        now, before = self._clock(), self.mark
        self.mark = now
        spent = now - before
        if self.moved_s:
            moved = min(self.moved_s, spent)
            self.phase_s["h2d"] += moved
            self.moved_s = 0.0
            spent -= moved
        self.phase_s[phase] += spent
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
        self.mark = self._clock()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """For our own probes: what runs inside is not the script's."""
        on, self._on = self._on, False
        try:
            yield
        finally:
            self._on = on
            self.mark = self._clock()


class Asked(list[Callable[..., None]]):
    """Listeners at a station who may end the script; the loop listens there once there are any."""

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__()
        self._changed = changed

    def append(self, listener: Callable[..., None]) -> None:
        super().append(listener)
        self._changed()


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
