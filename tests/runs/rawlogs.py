"""Raw log files for tests of the reader: frames put together by hand, and run folders made of them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from stepscope.records import FileHeader, RunMeta
from stepscope.runs.format.frames import ROW, Kind, encode
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.read.logs import LogReader

BASE = 1_700_000_000.5


class RawLog:
    """Frames in memory. Each method adds one; `data` has all of them."""

    def __init__(self, header: bool = True, **fields: Any) -> None:
        self.frames: list[bytes] = []
        self.seq = 0
        defaults = {"run_id": "r", "file_id": "f.points.0", "host": "h", "pid": 7, "base_time": BASE}
        self.header = FileHeader(**{**defaults, **fields})
        if header:
            self.pack(Kind.HEADER, self.header)

    def raw(self, kind: int, payload: bytes) -> RawLog:
        self.frames.append(encode(kind, self.seq, payload))
        self.seq += 1
        return self

    def pack(self, kind: int, record: Any) -> RawLog:
        return self.raw(kind, msgspec.msgpack.encode(record))

    def define(self, keyset: int, *names: str) -> RawLog:
        return self.pack(Kind.DEFINE, [keyset, list(names)])

    def row(self, keyset: int, step: int, *values: float, ticks: int = 0) -> RawLog:
        return self.raw(Kind.ROW, ROW.pack(keyset, ticks, step) + struct.pack(f"<{len(values)}d", *values))

    def event(self, event: Any) -> RawLog:
        return self.pack(Kind.EVENT, event)

    def heartbeat(self, time: float) -> RawLog:
        return self.raw(Kind.HEARTBEAT, struct.pack("<d", time))

    @property
    def data(self) -> bytes:
        return b"".join(self.frames)

    @property
    def starts(self) -> list[int]:
        """Where each frame begins."""
        return np.cumsum([0, *map(len, self.frames)])[:-1].tolist()

    def write(self, path: Path) -> Path:
        path.write_bytes(self.data)
        return path


def run_with(store: Path, *logs: RawLog, created: float = BASE, **meta: Any) -> Path:
    """A run folder with these logs; file names are numbered, readers go by the headers."""
    path = create_run(store, RunMeta(id=new_run_id(), project="p", name="n", created=created, **meta))
    for number, log in enumerate(logs):
        (path / f"{number}.{log.header.kind}.log").write_bytes(log.data)
    return path


def rows_in(reader: LogReader, final: bool = False) -> list[tuple[int, dict[str, float]]]:
    """Everything a poll gives, as (step, values) by sequence number."""
    found = []
    for batch in reader.poll(final):
        for rows in batch.rows:
            for seq, step, values in zip(rows.seqs.tolist(), rows.steps.tolist(), rows.values.tolist(), strict=True):
                found.append((seq, step, dict(zip(rows.names, values, strict=True))))
    return [(step, values) for _seq, step, values in sorted(found, key=lambda one: one[0])]
