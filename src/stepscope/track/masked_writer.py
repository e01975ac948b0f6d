"""A run's writer that lets no secret through: what every process that tracks a run writes with."""

from __future__ import annotations

from stepscope.records import End, Event
from stepscope.runs.write.writer import RunWriter
from stepscope.track.secrets import mask_record

__all__ = ["MaskedWriter"]


class MaskedWriter(RunWriter):
    """Masks every event and the end, whoever made them: findings, alerts, notes, settings, the git diff, faults.

    The console and media are masked where they are made, because a secret there can lie across several writes.
    """

    def event(self, event: Event) -> None:
        super().event(mask_record(event))

    def close(self, end: End | None = None, timeout: float = 30.0) -> None:
        super().close(None if end is None else mask_record(end), timeout)
