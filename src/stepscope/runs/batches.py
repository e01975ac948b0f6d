"""What one look at a log file brings: rows with their names and times, and the records between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.records import Console, Event, FileHeader, Media
from stepscope.runs.chunks import ChunkHead
from stepscope.runs.frames import TICK
from stepscope.runs.rows import RawRows

__all__ = ["Batch", "Keysets", "Rows"]

_MOST_HELD = 64 << 20
"""Bytes of rows that may wait for their names; beyond, the file is damaged past mending and they are counted."""


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
    """News from one segment. Records come with their sequence number, the order in which they were written."""

    header: FileHeader | None = None
    rows: list[Rows] = field(default_factory=list)
    chunks: list[tuple[ChunkHead, bytes]] = field(default_factory=list)
    media: list[tuple[int, Media]] = field(default_factory=list)
    events: list[tuple[int, Event]] = field(default_factory=list)
    console: list[tuple[int, Console]] = field(default_factory=list)
    blobs: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Where the bytes with a hash are in the file: offset and length."""
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
        self._rows: list[tuple[tuple[str, ...] | None, RawRows]] = []
        self._wide: list[Rows] = []
        self.given_up = 0

    @property
    def held_rows(self) -> int:
        return self.given_up + sum(len(raw.seqs) for _names, raw in self._rows)

    def define(self, keyset: int, names: tuple[str, ...]) -> None:
        """Name a keyset: for rows still to come, and for those that wait because their definition was lost."""
        self._names[keyset] = names
        self._rows = [(self._name(raw) if known is None else known, raw) for known, raw in self._rows]

    def add(self, rows: list[RawRows]) -> None:
        self._rows.extend((self._name(raw), raw) for raw in rows)

    def _name(self, raw: RawRows) -> tuple[str, ...] | None:
        names = self._names.get(raw.keyset)
        return names if names is not None and len(names) == raw.values.shape[1] else None

    def add_wide(self, seq: int, time: float, step: int, values: dict[str, Any]) -> None:
        """A row with numbers beyond a float64: the nearest float64 in the column, the number itself beside it."""
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
        """Rows whose names are known, ready to be kept; the others go on waiting."""
        ready, self._wide = self._wide, []
        waiting: list[RawRows] = []
        for names, raw in self._rows:
            if names is None:
                waiting.append(raw)
                continue
            ready.append(Rows(names, raw.seqs, raw.steps, raw.ticks * TICK + base_time, raw.values, {}))
        self._rows = [(None, raw) for raw in self._hold(waiting)]
        return ready

    def _hold(self, waiting: list[RawRows]) -> list[RawRows]:
        """Copies, so that the file's bytes can go; what is too much is given up and counted."""
        kept, total = [], 0
        for raw in waiting:
            total += raw.nbytes
            if total > _MOST_HELD:
                self.given_up += len(raw.seqs)
            else:
                kept.append(raw if raw.values.base is None else raw.copy())
        return kept


def _number(value: Any) -> int | float:
    """A logged number; integers beyond 64 bits were written as text."""
    return float(value) if isinstance(value, float) else int(value)


def _nearest(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
