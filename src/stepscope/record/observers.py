"""Which observers a recording gets."""

from __future__ import annotations

from stepscope.record.observer import Observer

__all__ = ["observers_for"]


def observers_for(*, cost: bool, stats: bool) -> list[Observer]:
    """The observers of time, FLOPs and saved bytes, and of statistics, as asked for."""
    return []
