"""Views over real run folders, written by the real writer."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.records import End, Event, Media, RunMeta
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter
from stepscope.views.context import Context
from stepscope.views.live import Hub
from stepscope.views.open_runs import OpenRuns
from stepscope.views.series import LineCache


def write_run(
    store: Path,
    name: str = "run",
    series: Mapping[str, Sequence[float]] | None = None,
    media: Sequence[tuple[Media, bytes]] = (),
    events: Sequence[Event] = (),
    end: End | str | None = "finished",
    every: float | None = None,
    **meta: Any,
) -> str:
    """Write a run and end it; its id. `end=None` leaves it running. `every`: seconds between points."""
    started = time.monotonic()
    created = meta.pop("created", time.time())
    about = RunMeta(id=new_run_id(created), project=meta.pop("project", "demo"), name=name, created=created, **meta)
    writer = RunWriter(create_run(store, about), run_id=about.id, heartbeat_s=0, fsync_s=0)
    for key, values in (series or {}).items():
        row = writer.keyset((key,))
        for step, value in enumerate(values):
            row.write(step, (float(value),), None if every is None else started + step * every)
    for item, data in media:
        writer.media(item, data)
    for event in events:
        writer.event(event)
    if end is not None:
        writer.close(End(time=time.time(), status="finished") if isinstance(end, str) else end)
    else:
        writer.flush()
        writer.close()
    return about.id


def histogram(key: str, step: int, edges: Sequence[float], counts: Sequence[float]) -> tuple[Media, bytes]:
    data = np.array([*edges, *counts], dtype="<f8").tobytes()
    return Media(key=key, step=step, time=float(step), kind="histogram", meta={"bins": len(counts)}), data


@pytest.fixture
def catalogue(store: Path) -> Iterator[Catalogue]:
    with Catalogue(store) as catalogue:
        yield catalogue


@pytest.fixture
def ctx(catalogue: Catalogue) -> Context:
    def edited(runs: Collection[str]) -> None:
        catalogue.refresh(only=runs)

    return Context(catalogue=catalogue, runs=OpenRuns(catalogue), lines=LineCache(), hub=Hub(), edited=edited)
