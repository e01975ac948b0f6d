"""The summary numbers of a run's metrics packed into one byte string with random access.

Ten thousand runs of fifty metrics are half a million summaries: creating objects would take seconds; the bytes come
straight from the index, and a query or sort unpacks only the number it needs.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from struct import Struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope.runs.points.summary import MetricSummary

_FLOATS = ("last", "first", "min", "max", "mean")
_INTEGERS = ("count", "nan", "inf", "last_step", "min_step", "max_step", "first_step")
_NAMES = _FLOATS + _INTEGERS
_ALL = Struct(f"<{len(_FLOATS)}d{len(_INTEGERS)}q")
_SLOTS = {name: (8 * at, Struct("<d" if name in _FLOATS else "<q")) for at, name in enumerate(_NAMES)}
_get_all = attrgetter(*_NAMES)
_NO_INTEGER = -(2**63)
Slot = tuple[tuple[str, str], Callable[[bytes, int], tuple[Any, ...]], int]
"""A metric's statistic, its format, and its offset."""
_OF_FINITE = frozenset(("min", "max", "mean"))
"""Statistics over finite values, so that NaN can mean "none"."""


def pack_stats(summaries: Iterable[MetricSummary]) -> bytes:
    """The summaries of a run's metrics, in the order of their names."""
    return b"".join(map(_pack, summaries))


def _pack(summary: MetricSummary) -> bytes:
    numbers = _get_all(summary)
    try:
        return _ALL.pack(*numbers)
    except struct.error:  # no step, or a step beyond 64 bits
        floats, integers = numbers[: len(_FLOATS)], numbers[len(_FLOATS) :]
        return _ALL.pack(*floats, *map(_integer, integers))


class MetricStats(Mapping[str, "MetricSummary"]):
    """A run's metrics by name. The bytes are fetched on first access."""

    __slots__ = ("_data", "_fetch", "_kept", "_places", "folder", "names")

    def __init__(
        self, names: tuple[str, ...], places: dict[str, int], folder: str, fetch: Callable[[str], bytes]
    ) -> None:
        """`places` has the position of each name, shared by runs with the same names; `fetch(folder)` returns the
        bytes.
        """
        self.names = names
        self.folder = folder
        self._places = places
        self._fetch = fetch
        self._data: bytes | None = None
        self._kept: dict[tuple[str, str], Any] | None = None

    def fill(self, data: bytes) -> None:
        """Fetch the bytes."""
        self._data = data
        self._kept = None

    def take(self) -> bytes:
        """The bytes, which are dropped here and fetched again when needed."""
        data = self._data if self._data is not None else self._bytes()
        self._data = None
        return data

    def slots(self, wanted: Iterable[tuple[str, str]]) -> list[Slot]:
        """The offsets of some numbers, valid for every run with these names."""
        return [
            (pair, _SLOTS[pair[1]][1].unpack_from, self._places[pair[0]] * _ALL.size + _SLOTS[pair[1]][0])
            for pair in wanted
            if pair[0] in self._places
        ]

    def keep(self, data: bytes, slots: list[Slot]) -> None:
        """Cache some numbers from the run's bytes without caching the bytes."""
        if self._data is not None:
            return
        kept = self._kept
        if kept is None:
            kept = self._kept = {}
        for pair, unpack, offset in slots:
            kept[pair] = unpack(data, offset)[0]

    def number(self, name: str, stat: str) -> float | int | None:
        """One statistic of one metric, or None."""
        kept = self._kept
        value = kept.get((name, stat)) if kept is not None else None
        if value is None:
            place = self._places.get(name)
            if place is None:
                return None
            value = self._raw(place, stat)
        elif value == _NO_INTEGER and stat not in _FLOATS:
            return None
        return None if value != value and stat in _OF_FINITE else value

    def __getitem__(self, name: str) -> MetricSummary:
        from stepscope.runs.points.summary import MetricSummary

        place = self._places[name]
        return MetricSummary(**{stat: self._raw(place, stat) for stat in _NAMES})

    def _raw(self, place: int, stat: str) -> Any:
        return _read(self._data if self._data is not None else self._bytes(), place, stat)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def _bytes(self) -> bytes:
        data = self._fetch(self.folder)
        self._data = data if len(data) == _ALL.size * len(self.names) else _ALL.pack(*_EMPTY) * len(self.names)
        return self._data


def _read(data: bytes, place: int, stat: str) -> Any:
    offset, slot = _SLOTS[stat]
    value = slot.unpack_from(data, place * _ALL.size + offset)[0]
    return None if value == _NO_INTEGER and offset >= 8 * len(_FLOATS) else value


def _integer(value: int | None) -> int:
    return _NO_INTEGER if value is None else min(max(value, _NO_INTEGER + 1), 2**63 - 1)


_EMPTY = (math.nan,) * len(_FLOATS) + (0, 0, 0) + (_NO_INTEGER,) * 4
