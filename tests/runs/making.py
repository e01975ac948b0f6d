"""Small stores for the tests of the catalogue, written by the real writer."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepscope.records import End, Event, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter

LONG_AGO = 1_790_000_000.0


def make_run(
    store: Path,
    name: str = "run",
    *,
    series: Mapping[str, Sequence[float]] | None = None,
    status: Any = "finished",
    created: float = LONG_AGO,
    events: Sequence[Event] = (),
    **meta: Any,
) -> Path:
    """One run with these series, one value a step; `status=None` leaves it without an end, as a kill would."""
    about = RunMeta(id=new_run_id(created), project=meta.pop("project", "p"), name=name, created=created, **meta)
    path = create_run(store, about)
    writer = RunWriter(path, run_id=about.id, heartbeat_s=0, fsync_s=0)
    for key, values in (series or {}).items():
        row = writer.keyset((key,))
        for step, value in enumerate(values):
            row.write(step, (value,))
    for event in events:
        writer.event(event)
    if status is not None:
        writer.close(End(time=created + 100, status=status))
    else:
        writer.close()
        for log in path.glob("*.log"):  # without the seal that closing wrote
            os.truncate(log, log.stat().st_size - 16)
    return path


def make_old(store: Path) -> None:
    """Turn back the times of all run folders, so that they count as settled."""
    past = time.time() - 60
    for path in store.iterdir():
        os.utime(path, (past, past))
