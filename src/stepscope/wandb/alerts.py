"""`wandb.alert`: an alert, sent once within its waiting time."""

from __future__ import annotations

import enum
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope.records import Severity
    from stepscope.track.run import Run

DEFAULT_WAIT_S = 60.0


class AlertLevel(enum.Enum):
    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"


_OURS: dict[str, Severity] = {"INFO": "info", "WARN": "warning", "WARNING": "warning", "ERROR": "error"}


class Alerts:
    """The alerts of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._left: dict[str, float] = {}

    def add(self, title: str, text: str, level: Any, wait_duration: Any) -> None:
        wait_s = wait_duration.total_seconds() if isinstance(wait_duration, timedelta) else wait_duration
        now = time.monotonic()
        if title in self._left and now - self._left[title] < (DEFAULT_WAIT_S if wait_s is None else float(wait_s)):
            return
        self._left[title] = now
        name = str(level.value if isinstance(level, AlertLevel) else level or "INFO").upper()
        self._run.alert(title, text, _OURS.get(name, "info"))
