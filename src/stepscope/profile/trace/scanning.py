"""What the two scanners have in common: they are given a trace in pieces and take whole events from each."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

from stepscope.profile.trace.events import Events


class Status(IntEnum):
    OK = 0
    MORE = 1
    """Give what was not consumed again, with more of the file behind it."""
    BAD = 2
    """The next element is not valid JSON: repair it or skip it."""
    DONE = 3
    """The trace has ended."""
    MEMORY = 4
    ALIEN = 5
    """This is not a trace at all: it begins with neither an object nor a list."""


class Found(NamedTuple):
    status: Status
    consumed: int
    in_events: bool
    """Whether the next value is an element of the list of events (else: a field beside it)."""


class Scanner(Protocol):
    piece_bytes: int
    """How much of the file it wants at once."""

    def scan(self, piece: bytes, at: int = 0) -> Found:
        """Take all whole events of a piece, from an offset."""
        ...

    def add(self, event: dict[str, Any]) -> None:
        """One event that was repaired."""
        ...

    @property
    def has_events(self) -> bool:
        """Whether there was a list of events at all."""
        ...

    def events(self) -> Events:
        """The table, with times as the trace has them and without names of lanes."""
        ...

    def metadata(self) -> Iterator[Any]: ...

    def fields(self) -> dict[str, Any]: ...

    @property
    def dropped(self) -> int: ...
