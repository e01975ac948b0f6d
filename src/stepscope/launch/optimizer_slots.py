"""Which optimizer is which: numbered in the order of their first steps, told apart as long as they live.

The optimizer of the next fold, or of the next call of `fit`, is made on the same line as the one before, for a model
made on the same line. It takes over the number, so its series continue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import ref

from stepscope.common.code_owner import is_own_file
from stepscope.events import Installed

__all__ = ["OptimizerSlots"]

Place = tuple[str, int]


@dataclass
class _Made:
    """An optimizer: where it was made, and how many steps there had been."""

    optimizer: ref[Any]
    place: Place | None = None
    steps: int = 0
    number: int | None = None


@dataclass
class _Slot:
    """One number: of which model, and how many steps there had been when its optimizer had last made one."""

    place: Place | None
    model: Any
    last_step: int = 0


class OptimizerSlots:
    """`steps()` counts the steps so far."""

    def __init__(self, steps: Callable[[], int]) -> None:
        self.model_of: Callable[[Any], Any] = lambda optimizer: None
        """Tells the models apart that one line makes optimizers for."""
        self._steps = steps
        self._known: dict[int, _Made] = {}
        """By id, which only the optimizer that is still there has."""
        self._slots: list[_Slot] = []
        self._latest: int | None = None
        self._installed = Installed(stays_in_parent=True)

    def __len__(self) -> int:
        return len(self._slots)

    def install(self) -> None:
        """Note where optimizers are made."""
        self._installed.after("torch.optim:Optimizer.__init__", "following an optimizer", self._note)

    def remove(self) -> None:
        self._installed.remove()

    def clear(self) -> None:
        """Another training begins: its first optimizer is the first."""
        self._known.clear()
        self._slots.clear()
        self._latest = None

    def number_of(self, optimizer: Any) -> tuple[int, bool]:
        """Its number, and whether that was given just now."""
        if self._latest is not None:
            self._slots[self._latest].last_step = self._steps()
        made = self._known.get(id(optimizer))
        if made is None or made.optimizer() is not optimizer:
            made = self._known[id(optimizer)] = _Made(ref(optimizer))
        is_new = False
        if made.number is None:
            model = self.model_of(optimizer)
            made.number = self._taken_over(made, model)
            if made.number is None:
                made.number, is_new = len(self._slots), True
                self._slots.append(_Slot(made.place, model))
        self._latest = made.number
        return made.number, is_new

    def _note(self, frame: Any, result: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
        self._known[id(optimizer)] = _Made(ref(optimizer), _own_place(frame), self._steps())

    def _taken_over(self, made: _Made, model: Any) -> int | None:
        """The slot of an optimizer that had made its last step when this one was made, on the same line."""
        for number, slot in enumerate(self._slots):
            is_same = made.place is not None and slot.place == made.place and slot.model == model
            if is_same and slot.last_step <= made.steps:
                return number
        return None


def _own_place(frame: Any) -> Place | None:
    while frame is not None:
        if is_own_file(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None
