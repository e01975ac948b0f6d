"""The phases of the steps in a window, as rows beside torch's own."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from stepscope.common import clocks
from stepscope.profile.collect.phases import PHASES


class PhaseEvents:
    """Collects stretches by the loop's clock and saves them on the axis of the trace (Unix nanoseconds)."""

    def __init__(self) -> None:
        self._offset = clocks.time_ns() - clocks.perf_counter_ns()
        self._thread = threading.get_native_id()
        self._rows: list[tuple[str, float, float, int]] = []
        self.began = clocks.perf_counter()
        self.step = -1
        """The current step."""

    def add(self, phase: str, began: float, ended: float) -> None:
        if phase in PHASES and ended > self.began:
            self._rows.append((phase, max(began, self.began), ended, self.step))

    def save(self, path: Path) -> None:
        """A lane of their own: two clocks differ by microseconds, and rows of one lane must nest."""
        from stepscope.profile.trace.build import Builder
        from stepscope.profile.trace.columns import save_events

        builder = Builder()
        pid, lane = os.getpid(), f"{self._thread} phases"
        builder.lane_names[f"{pid}/{lane}"] = "phases"
        for phase, began, ended, step in self._rows:
            start, dur = round(began * 1e9) + self._offset, round((ended - began) * 1e9)
            builder.add(phase, "phase", start=start, dur=dur, pid=pid, tid=lane, args={"step": step})
        save_events(builder.events(), path)
