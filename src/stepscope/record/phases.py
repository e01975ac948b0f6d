"""Which part of the step is running: set-up, forward, loss, backward, optimizer, other."""

from __future__ import annotations

from stepscope.records.step import Phase


class Phases:
    """Follows the step as modules, backward and optimizers begin and end. `now` is the phase of the next op."""

    def __init__(self) -> None:
        self.now: Phase = "setup"
        self._base: Phase = "setup"
        self._modules = 0
        self._backward = 0
        self._optimizers = 0

    @property
    def in_backward(self) -> bool:
        return self._backward > 0

    def _settle(self) -> None:
        if self._backward:
            self.now = "backward"
        elif self._modules:
            self.now = "forward"
        else:
            self.now = self._base

    def module_begins(self) -> None:
        """An outermost call of the model (or a part of it)."""
        self._modules += 1
        self._settle()

    def module_ends(self) -> None:
        self._modules -= 1
        if not self._modules and not self._backward:
            self._base = "loss"
        self._settle()

    def backward_begins(self) -> None:
        self._backward += 1
        self._settle()

    def backward_ends(self) -> None:
        self._backward -= 1
        if not self._backward:
            self._base = "optimizer" if self._optimizers else "other"
        self._settle()

    def optimizer_begins(self) -> None:
        self._optimizers += 1
        self._base = "optimizer"
        self._settle()

    def optimizer_ends(self) -> None:
        self._optimizers = max(0, self._optimizers - 1)
        self._base = "optimizer" if self._optimizers else "other"
        self._settle()
