"""Numbers that the script prints, beside the same numbers derived independently."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.step import Site

MOST = 400


@record
@dataclass(eq=False)
class Compared:
    """One printed series and its counterpart, value by value."""

    name: str
    """Its printed name."""
    kind: str
    """accuracy: over a whole pass of a loader · loss: of training, the mean since the last print."""
    site: Site | None = None
    """Where it is printed."""
    printed: list[float] = field(default_factory=list)
    derived: list[float] = field(default_factory=list)

    def add(self, printed: float, derived: float) -> None:
        if len(self.printed) < MOST:
            self.printed.append(printed)
            self.derived.append(derived)


@table("printed_numbers")
@dataclass(eq=False)
class PrintedNumbers:
    """`run.printed_numbers`"""

    all: list[Compared] = field(default_factory=list)

    def of(self, name: str, kind: str, place: tuple[str, int] | None) -> Compared:
        for one in self.all:
            if (one.name, one.kind) == (name, kind):
                return one
        from stepscope.records.step import Site

        site = None if place is None else Site(file=place[0], line=place[1], function="")
        found = Compared(name, kind, site)
        self.all.append(found)
        return found
