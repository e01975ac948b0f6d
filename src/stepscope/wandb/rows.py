"""W&B's way of counting steps: a row is gathered until it is committed, and steps never go back.

`log(data)` adds to the row and commits it; `commit=False` and `step=n` only add. A greater step commits the row of the
step before, a smaller one is refused. Of a name given twice within a row the later value stays.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from stepscope.track.steps import as_step
from stepscope.wandb.values import is_plain, settled

__all__ = ["Rows"]

IDLE_S = 2.0
"""A row that nothing was added to for so long is written, so that a chart does not lag an epoch behind, and a kill
costs at most this. What is added to it afterward is a second row at the same step."""


class Rows:
    """The rows of one run, in the making."""

    def __init__(
        self,
        write: Callable[[dict[str, Any], int], None],
        refused: Callable[[str, str], None],
        first_step: int = 0,
    ) -> None:
        self.step = first_step
        """The step the next values belong to."""
        self.last_step: int | None = first_step - 1 if first_step else None
        """The last step a row was committed at."""
        self._write = write
        self._refused = refused
        self._row: dict[str, Any] = {}
        self._touched = 0.0
        self._lock = threading.RLock()

    def log(self, data: Mapping[Any, Any], step: Any = None, commit: bool | None = None) -> None:
        """Add values; raises `StepRefused` for a step that is no whole number."""
        number = None if step is None else as_step(step)
        if commit is None:
            commit = number is None
        with self._lock:
            if number is not None and not self._go_to(number):
                return
            self._add(data, is_last=commit)
            if commit:
                self._commit()
                self.step += 1

    def _go_to(self, number: int) -> bool:
        if number < self.step:
            self._refused(
                "earlier step",
                f"step {number} is before the current step {self.step}; steps only go up, as in W&B "
                "(log the other count as a value and name it with define_metric(..., step_metric=...))",
            )
            return False
        if number > self.step:
            self._commit()
            self.step = number
        return True

    def _add(self, data: Mapping[Any, Any], is_last: bool) -> None:
        if is_plain(data):
            self._row.update(data)
        else:
            self._row.update(settled(data, keep=not is_last))
        self._touched = time.monotonic()

    def _commit(self) -> None:
        row, self._row = self._row, {}
        self.last_step = self.step
        if row:
            self._write(row, self.step)

    def flush(self, timeout_s: float = 2.0) -> None:
        """Write what is there, uncommitted. Never waits for ever: at a SIGTERM the lock may be held by who is gone."""
        if self._lock.acquire(timeout=timeout_s):
            try:
                self._commit_part()
            finally:
                self._lock.release()

    def tick(self) -> None:
        """Write a row that has waited for long."""
        if self._row and time.monotonic() - self._touched >= IDLE_S and self._lock.acquire(blocking=False):
            try:
                self._commit_part()
            finally:
                self._lock.release()

    def _commit_part(self) -> None:
        if self._row:
            row, self._row = self._row, {}
            self._write(row, self.step)

    def after_fork(self) -> None:
        """In a child: the row is the parent's, and its lock may be held by a thread that is not here."""
        self._lock = threading.RLock()
        self._row = {}
