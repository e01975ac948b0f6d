"""Changes after which a script that crashed went on, as a trial in a copy of the process has shown."""

from __future__ import annotations

from dataclasses import dataclass, field

from stepscope.evidence.registry import record, table


@record
@dataclass(eq=False)
class Replacement:
    """One expression to replace."""

    span: tuple[int, int, int, int]
    """First and last line, first and last column, as Python's trees count."""
    old: str
    new: str


@record
@dataclass(eq=False)
class Repair:
    """A change of one expression, and of the others that need the same."""

    file: str
    spots: list[Replacement]
    kind: str
    """What kind of change it is: `swapped`, `called`, `wrapped`, `near name`, `shape`, `dtype` ..."""
    is_sure: bool = False
    """It hardly runs through by accident: a change of shape often does, another name does not."""
    because: str = ""
    """What it was about, in a few words."""

    @property
    def new(self) -> str:
        return self.spots[0].new


@table("repairs")
@dataclass(eq=False)
class Repairs:
    """`run.repairs`: those found after the crash, the likeliest first."""

    all: list[Repair] = field(default_factory=list)
    tried: int = 0
