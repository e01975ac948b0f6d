"""W&B's step counting: a row is collected until it is committed, and steps never go back.

`log(data)` adds to the row and commits it; `commit=False` and `step=n` only add. A greater step commits the row of the
previous step, a smaller one is rejected. If a name occurs twice within a row, the later value counts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from stepscope.track.steps import as_step
from stepscope.wandb.values import is_plain, settled

IDLE_S = 2.0
"""A row is written after this long without additions, so that a chart does not lag an epoch behind and a kill
loses at most this. Later additions become a second row at the same step."""


class Rows:
    """The current rows of one run."""

    def __init__(
        self,
        write: Callable[[dict[str, Any], int], None],
        refused: Callable[[str, str], None],
        first_step: int = 0,
    ) -> None:
        self.step = first_step
        """The step of the next values."""
        self.last_step: int | None = first_step - 1 if first_step else None
        """The last step at which a row was committed."""
        self._write = write
        self._refused = refused
        self._row: dict[str, Any] = {}
        self._touched = 0.0
        self._lock = threading.RLock()

    def log(self, data: Mapping[Any, Any], step: Any = None, commit: bool | None = None) -> None:
        """Add values; raises `StepRefused` for a step that is not an integer."""
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
                f"step {number} is before the current step {self.step}; steps only increase, as in "
                "W&B (log the other count as a value and name it with define_metric(..., step_metric=...))",
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
        """Write the current row, uncommitted. Never waits forever: at a SIGTERM the lock may never be released."""
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
        """In a child: the row belongs to the parent, and its lock may be held by a thread that does not exist here."""
        self._lock = threading.RLock()
        self._row = {}
