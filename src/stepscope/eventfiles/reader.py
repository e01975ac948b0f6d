"""An incremental event file reader: scalars as columns, everything else as events, in writing order."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from stepscope.errors import BadData
from stepscope.eventfiles.events import Event, Metadata, decode_event
from stepscope.eventfiles.records import RecordFile, first_records
from stepscope.eventfiles.scalars import Column, take_scalars
from stepscope.eventfiles.tensors import decode_tensor


def is_event_file(name: str) -> bool:
    """Whether TensorBoard would treat a file of this name as an event file.

    >>> is_event_file("events.out.tfevents.1700000000.host.1.0"), is_event_file("model.pt")
    (True, False)
    """
    return "tfevents" in name and not name.endswith(".profile-empty")


@dataclass
class News:
    """Some of what is new in a file. `order` numbers give the sequence."""

    columns: list[Column] = field(default_factory=list)
    events: list[tuple[int, Event]] = field(default_factory=list)
    count: int = 0


class EventFile:
    """One event file that may still grow."""

    def __init__(self, path: Path, offset: int = 0, plugins: dict[str, Metadata] | None = None) -> None:
        self.records = RecordFile(path, offset)
        self.plugins: dict[str, Metadata] = {} if plugins is None else plugins
        """The metadata each tag was first logged with: later values may omit it."""
        self._bad = 0

    @property
    def offset(self) -> int:
        return self.records.offset

    def read(self) -> News | None:
        """The next piece; None if there is nothing more for now."""
        batch = self.records.read()
        if batch is None:
            return None
        news = News(count=batch.count)
        singles = list(batch.singles)
        for group in batch.groups:
            columns, others = take_scalars(group, self.plugins)
            news.columns.extend(columns)
            singles.extend((int(group.order[row]), group.rows[row].tobytes()) for row in others.tolist())
        for place, data in sorted(singles, key=lambda single: single[0]):
            self._take(place, data, news)
        return news

    def troubles(self) -> list[str]:
        """What could not be read since the last call."""
        told = self.records.troubles()
        if self._bad:
            told.append(f"{self.records.path}: {self._bad:,} records are not events; they were skipped")
            self._bad = 0
        return told

    def _take(self, place: int, data: bytes, news: News) -> None:
        try:
            event = decode_event(data)
        except BadData:
            self._bad += 1
            return
        others = []
        for value in event.values:
            if value.metadata is not None and value.metadata.plugin:
                self.plugins.setdefault(value.tag, value.metadata)
            number = value.scalar if value.kind == "scalar" else self._scalar_tensor(value.tag, value.kind, value.data)
            if number is None:
                others.append(value)
                continue
            one = np.array([place]), np.array([event.step]), np.array([event.time]), np.array([number])
            news.columns.append(Column(value.tag, *one))
        event.values = others
        if (
            others
            or event.version
            or event.graph
            or event.meta_graph
            or event.run_metadata
            or event.message
            or (event.session is not None)
        ):
            news.events.append((place, event))

    def _scalar_tensor(self, tag: str, kind: str, data: bytes) -> float | None:
        if kind != "tensor" or tag not in self.plugins or self.plugins[tag].plugin != "scalars":
            return None
        try:
            tensor = decode_tensor(data)
        except BadData:
            return None
        if tensor.size != 1 or tensor.dtype.kind not in "fiub":
            return None
        return float(tensor.reshape(-1)[0])


def first_events(path: Path) -> list[Event]:
    """The first events of a file, within a few kilobytes: who wrote it, when, and what kind."""
    events = []
    for data in first_records(path):
        try:
            events.append(decode_event(data))
        except BadData:
            continue
    return events
