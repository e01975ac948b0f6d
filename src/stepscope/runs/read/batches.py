"""The result of one poll of a log file: rows with names and times, and the records between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.records import Console, Event, FileHeader, Media
from stepscope.runs.format.chunks import ChunkHead
from stepscope.runs.format.frames import TICK
from stepscope.runs.read.rows import RawRows

_MOST_HELD = 64 << 20
"""Bytes of rows that may wait for their names; beyond, the file is too damaged, and further rows are only counted."""


class Rows(NamedTuple):
    """Rows that share their names."""

    names: tuple[str, ...]
    seqs: npt.NDArray[np.uint32]
    steps: npt.NDArray[np.int64]
    times: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    exact: dict[tuple[int, int], int]
    """Integers that a float64 cannot hold, by (row, column)."""


@dataclass
class Batch:
    """New data from one segment. Records come with their sequence number, the order of writing."""

    header: FileHeader | None = None
    rows: list[Rows] = field(default_factory=list)
    chunks: list[tuple[ChunkHead, bytes]] = field(default_factory=list)
    media: list[tuple[int, Media]] = field(default_factory=list)
    events: list[tuple[int, Event]] = field(default_factory=list)
    console: list[tuple[int, Console]] = field(default_factory=list)
    blobs: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Offset and length of the bytes with a hash."""
    heartbeat: float | None = None
    sealed: bool = False

    def __bool__(self) -> bool:
        return bool(
            self.rows or self.chunks or self.media or self.events or self.console or self.blobs or self.sealed
        ) or (self.heartbeat is not None or self.header is not None)


class Keysets:
    """Gives rows their names. Rows whose definition was lost wait here until it is repeated."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[str, ...]] = {}
        self._named: list[tuple[tuple[str, ...], RawRows]] = []
        self._waiting: dict[int, list[RawRows]] = {}
        self._wide: list[Rows] = []
        self.given_up = 0

    @property
    def held_rows(self) -> int:
        waiting = [raw for rows in self._waiting.values() for raw in rows]
        return self.given_up + sum(len(raw.seqs) for raw in waiting) + sum(len(raw.seqs) for _, raw in self._named)

    def define(self, keyset: int, names: tuple[str, ...]) -> None:
        """Name a keyset, for future rows and for those waiting for their lost definition."""
        self._names[keyset] = names
        self.add(self._waiting.pop(keyset, ()))

    def add(self, rows: Iterable[RawRows]) -> None:
        for raw in rows:
            names = self._names.get(raw.keyset)
            if names is not None and len(names) == raw.values.shape[1]:
                self._named.append((names, raw))
            else:
                self._waiting.setdefault(raw.keyset, []).append(raw)

    def add_wide(self, seq: int, time: float, step: int, values: dict[str, Any]) -> None:
        """A row with numbers beyond float64: the nearest float64 in the column, the exact number beside it."""
        numbers = [_number(value) for value in values.values()]
        floats = [_nearest(number) for number in numbers]
        self._wide.append(
            Rows(
                tuple(values),
                np.array([seq], dtype=np.uint32),
                np.array([step], dtype=np.int64),
                np.array([time], dtype=np.float64),
                np.array([floats], dtype=np.float64),
                {(0, at): number for at, number in enumerate(numbers) if isinstance(number, int)},
            )
        )

    def take(self, base_time: float) -> list[Rows]:
        """Rows whose names are known; the others keep waiting."""
        wide, self._wide = self._wide, []
        named, self._named = self._named, []
        self.hold()
        return wide + [
            Rows(names, raw.seqs, raw.steps, raw.ticks.astype(np.float64) * TICK + base_time, raw.values, {})
            for names, raw in named
        ]

    def hold(self) -> None:
        """Copy waiting rows, so that the file's bytes can be freed; rows over the limit are dropped and counted."""
        total = 0

        def kept(raw: RawRows) -> bool:
            nonlocal total
            total += raw.nbytes
            self.given_up += len(raw.seqs) if total > _MOST_HELD else 0
            return total <= _MOST_HELD

        self._named = [(names, raw.copy()) for names, raw in self._named if kept(raw)]
        self._waiting = {keyset: [raw.copy() for raw in rows if kept(raw)] for keyset, rows in self._waiting.items()}


def _number(value: Any) -> int | float:
    """A logged number; integers beyond 64 bits were written as text."""
    return float(value) if isinstance(value, float) else int(value)


def _nearest(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
