"""Which observers a recording gets."""

from __future__ import annotations

from stepscope.record.op_observer import Observer


def observers_for(*, cost: bool, stats: bool) -> list[Observer]:
    """The observers of time, FLOPs and saved bytes, and of statistics, as asked for."""
    from stepscope.record.flops import FlopsObserver
    from stepscope.record.memory import MemoryObserver
    from stepscope.record.saved import SavedObserver
    from stepscope.record.statistics import StatisticsObserver
    from stepscope.record.timing import TimingObserver

    chosen: list[Observer] = [StatisticsObserver()] if stats else []
    if cost:
        # The clock last: what the others do before an op is then not timed.
        chosen += [MemoryObserver(), FlopsObserver(), SavedObserver(), TimingObserver()]
    return chosen
