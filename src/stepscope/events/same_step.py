"""Which updates belong to one step: gradients were made, then one or several optimizers changed the weights."""

from __future__ import annotations

from typing import Any

__all__ = ["SameStep"]


class SameStep:
    """Follows optimizers. `gradients` is how often gradients have been computed so far.

    An encoder's and a decoder's optimizer that step after one backward make one step. Where no backward is seen
    between two updates (evolution strategies, CUDA graphs), an optimizer that steps again begins another step.
    """

    def __init__(self) -> None:
        self._gradients = -1
        self._optimizers: set[int] = set()

    def continues(self, optimizer: Any, gradients: int) -> bool:
        """Whether an update by this optimizer would belong to the step that was made last."""
        return gradients == self._gradients and id(optimizer) not in self._optimizers

    def updated(self, optimizer: Any, gradients: int) -> bool:
        """An optimizer has changed its weights; whether that made a new step."""
        if self.continues(optimizer, gradients):
            self._optimizers.add(id(optimizer))
            return False
        self._gradients = gradients
        self._optimizers = {id(optimizer)}
        return True
