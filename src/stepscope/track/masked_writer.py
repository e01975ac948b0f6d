"""A run writer that masks secrets; every process that tracks a run writes through it."""

from __future__ import annotations

from stepscope.records import End, Event
from stepscope.runs.write.writer import RunWriter
from stepscope.track.secrets import mask_record


class MaskedWriter(RunWriter):
    """Masks every event and the end: findings, alerts, notes, settings, the git diff, faults.

    The console and media are masked where they are created, because a secret there can span several writes.
    """

    def event(self, event: Event) -> None:
        super().event(mask_record(event))

    def close(self, end: End | None = None, timeout: float = 30.0) -> None:
        super().close(None if end is None else mask_record(end), timeout)
