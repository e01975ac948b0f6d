"""Where one turn of the training loop ends and the next begins, without the script saying so.

A turn begins when the training loader is asked for a batch after an optimizer step; several batches before the next
step (accumulation) and several optimizers (a GAN) belong to one turn. A pass over the validation data is in none.
Without a loader a turn reaches from one optimizer step to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import sub
from typing import TYPE_CHECKING, Any
from weakref import WeakSet, ref

from stepscope import fence
from stepscope.profile.collect.phases import PhaseTable
from stepscope.record.lengths import known_length

if TYPE_CHECKING:
    from stepscope.launch.loop import Loop

_LOOK_S = 0.1


class Iterations:
    """Iterations of the loop as they come: passed to listeners, and kept by phase."""

    def __init__(self, loop: Loop) -> None:
        self.phases = PhaseTable()
        self.on_begin: list[Callable[[int], None]] = []
        """Called with the number of the step that begins (as `loop.steps` counts)."""
        self.on_look: list[Callable[[int], None]] = []
        """As `on_begin`, but only about ten times a second."""
        self.looked = 0.0
        """When they were last called, by the loop's clock."""
        self.on_end: list[Callable[[int], None]] = []
        self.on_gap: list[Callable[[int], None]] = []
        """Called with the number of the last step when something else follows it: a validation, the end of an epoch."""
        self.disturbed = False
        """Stepscope slows the current turn down; it is not counted."""
        self.last_s: float | None = None
        """How long the last turn took; None: it was disturbed or broken off."""
        self.asking = False
        """A batch is being asked for: whoever wants to end the script may do it now."""
        self.number: int | None = None
        """The current step, or none."""
        self._loop = loop
        self._stepped = False
        self._fetched = 0
        self._training: WeakSet[Any] = WeakSet()
        self._iterator: Callable[[], Any] = lambda: None
        self._length: int | None = None
        self.has_learned = True
        """Whether that iterator's batches are trained on is known; also without one."""
        self._is_training = True
        """Whether batches of that iterator are trained on; unknown counts as yes."""
        self._before: list[float] = []
        self.is_aside = False
        """A trainer does something else than training."""

    # -- what a trainer says --------------------------------------------------------------------------------------

    @fence.fenced("following the turns of the loop")
    def stand_aside(self, yes: bool) -> None:
        """A trainer evaluates, or has gone on training: until then nothing that happens is part of a turn."""
        if yes and not self.is_aside:
            if self._stepped:
                self._pause()
            self.number = None
        self.is_aside = yes

    @fence.fenced("following the turns of the loop")
    def step_is_over(self) -> None:
        """A trainer does something between two steps."""
        if self._stepped and not self.is_aside:
            self._pause()

    # -- stations -------------------------------------------------------------------------------------------------

    def batch_is_asked(self, iterator: Any) -> None:
        if self.is_aside:
            return
        if self.number is not None and not self._stepped:
            return
        if self._iterator() is not iterator:
            self._look_at(iterator)
        self.asking = True
        try:
            if self._is_training and not self._is_empty(iterator):
                self.begin()
            else:
                self._pause()
        finally:
            self.asking = False

    def _look_at(self, iterator: Any) -> None:
        self._iterator = ref(iterator)
        self._length = _length_of(iterator)
        self.has_learned = False
        self._is_training = not self._training or self._loop.loader_of.get(iterator) in self._training

    def _is_empty(self, iterator: Any) -> bool:
        """Whether the loader has handed out all of its batches: this question will be answered with the end."""
        return self._length is not None and int(getattr(iterator, "_num_yielded", 0)) >= self._length

    def batch_is_given(self, iterator: Any) -> None:
        if self.is_aside:
            return
        self._fetched += 1
        if self._iterator() is not iterator:
            self._look_at(iterator)

    def backward_begins(self) -> None:
        if self.is_aside:
            return
        if self._fetched == 1:
            self._learn()
        if self.number is None:
            self.begin()

    def _learn(self) -> None:
        """What the last batch came from is trained on."""
        iterator = self._iterator()
        loader = None if iterator is None else self._loop.loader_of.get(iterator)
        if loader is not None:
            self._training.add(loader)
            self._is_training = self.has_learned = True

    def step_is_made(self) -> None:
        if self.is_aside:
            return
        self._stepped = True
        if not self._fetched:
            self.begin()

    def pass_is_over(self) -> None:
        """The loader has no more; if a step has been made, what follows is not part of it."""
        if self.is_aside:
            return
        if self._stepped:
            self._pause()
        elif self.number is not None and not self._fetched:  # begun by asking for a batch that is not there
            number, self.number = self.number, None
            self._tell(self.on_gap, number)

    # -- turns ----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        loop = self._loop
        if self.number is not None:
            self.end()
        self._stepped, self._fetched = False, 0
        self.number = loop.steps
        self._before = [*loop.phase_s.values()]
        if self.on_begin:
            self._tell(self.on_begin, self.number)
        if self.on_look and loop.mark - self.looked >= _LOOK_S:
            self.looked = loop.mark
            self._tell(self.on_look, self.number)

    def end(self) -> None:
        number, self.number = self.number, None
        if number is None:
            return
        self.last_s = None
        if self.disturbed:
            self.phases.leave_out()
        elif self._stepped:  # a turn that was broken off would be no step
            spent = [*map(sub, self._loop.phase_s.values(), self._before)]
            self.last_s = sum(spent)
            self.phases.append(number, spent, self.last_s)
        self.disturbed = False
        if self.on_end:
            self._tell(self.on_end, number)

    def _pause(self) -> None:
        number = self.number
        self.end()
        if number is not None:
            self._tell(self.on_gap, number)

    def conclude(self) -> None:
        """The script is over. A turn that has made its step is one; any other was broken off."""
        if self._stepped:
            self.end()
        self.number = None

    def _tell(self, listeners: list[Callable[[int], None]], number: int) -> None:
        for listener in tuple(listeners):
            try:
                listener(number)
            except Exception as fault:
                fence.report("following the turns of the loop", fault)
        if listeners:
            self._loop.forget_time()


def _length_of(iterator: Any) -> int | None:
    """How many batches a pass has; unknown of a stream, whose length must not be asked for: torch would note that."""
    if getattr(iterator, "_dataset_kind", None) != 0:
        return None
    return known_length(iterator)
