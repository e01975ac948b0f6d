"""What was looked at closely and what was not: kept with the run, and said wherever a verdict is given."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from stepscope.records import Coverage

if TYPE_CHECKING:
    from stepscope.events.governor import Governor
    from stepscope.launch.logbook import Logbook
    from stepscope.launch.session import Session

__all__ = ["coverage_of", "coverage_text", "keep_coverage", "wake_on_bad_values"]


def wake_on_bad_values(logbook: Logbook, governor: Governor) -> None:
    """Have the next steps looked at when the pulse sees a loss or a gradient that is not finite."""
    logbook.on_bad_loss.append(lambda loss: governor.alarm("the loss is not finite"))
    logbook.on_beat.append(lambda beat: None if beat.ok else governor.alarm("a value is not finite"))


def coverage_of(session: Session) -> Coverage | None:
    """Of a training that was watched; None without a watch or a step."""
    watcher = session.watcher
    if watcher is None or not watcher.step:
        return None
    from stepscope.events import aside

    governor = watcher.governor
    return Coverage(
        time=time.time(),
        steps=watcher.step,
        closely=governor.coverage(),
        closed=governor.closed or "",
        aside=dict(aside.noted),
    )


def keep_coverage(session: Session) -> None:
    """Write it into the run."""
    coverage = coverage_of(session)
    if coverage is not None:
        session.tracking.event(coverage)


def coverage_text(coverage: Coverage) -> str:
    """In words; empty when every step was looked at closely.

    >>> coverage_text(Coverage(time=0.0, steps=500, closely=[(1, 40), (100, 101)]))
    'watched closely for steps 1 to 40 and 100 to 101; the other steps by their pulse only'
    """
    if sum(last - first + 1 for first, last in coverage.closely) >= coverage.steps:
        return ""
    why = f" ({coverage.closed})" if coverage.closed else ""
    if not coverage.closely:
        return f"no step was watched closely{why}; all by their pulse only"
    spans = [f"{first} to {last}" if last > first else str(first) for first, last in coverage.closely]
    listed = spans[0] if len(spans) == 1 else f"{', '.join(spans[:-1])} and {spans[-1]}"
    noun = "step" if len(spans) == 1 and "to" not in spans[0] else "steps"
    return f"watched closely for {noun} {listed}{why}; the other steps by their pulse only"
