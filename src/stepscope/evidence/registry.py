"""The tables of evidence and their records, found by folder: a file added here is registered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from stepscope.common.folders import modules_in
from stepscope.records.place import Place
from stepscope.records.step import Site, Stats

T = TypeVar("T")


@dataclass(frozen=True)
class Table:
    """What one observer writes: `run.<name>` for the rules."""

    name: str
    version: int
    """Incremented when the observer's data, or its meaning, changes."""
    kind: type


_tables: dict[str, Table] = {}
_records: dict[str, type] = {"Place": Place, "Site": Site, "Stats": Stats}


def table(name: str, *, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Make a dataclass a table of evidence; its observer is a subclass that fills it.

    @table("losses")
    @dataclass(eq=False)
    class Losses: ...
    """

    def register(kind: type[T]) -> type[T]:
        _tables[name] = Table(name, version, kind)
        return record(kind)

    return register


def record(kind: type[T]) -> type[T]:
    """Make a class referenceable from tables. Its class name is its name on disk."""
    known = _records.setdefault(kind.__name__, kind)
    assert known.__module__ == kind.__module__, f"two records are called {kind.__name__}: {known} and {kind}"
    _records[kind.__name__] = kind
    return kind


def tables() -> dict[str, Table]:
    """Every table by its name."""
    modules_in(_FOLDER)
    return dict(sorted(_tables.items()))


def records() -> list[type]:
    """Every class that may be on disk."""
    modules_in(_FOLDER)
    return [_records[name] for name in sorted(_records)]


_FOLDER = "stepscope.evidence"
