"""Options: what argparse gave the script, by name, as far as it is a number or a switch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["Option", "Options"]


@record
@dataclass(eq=False)
class Option:
    """One option of a parser."""

    name: str
    """Under which the script reads it: `weight_decay`."""
    flags: list[str] = field(default_factory=list)
    """How the command line says it: `--weight-decay`."""
    type: str = ""
    """The name of the function that converts it."""
    value: float | None = None
    """What it came to; None for anything but a number or a switch."""
    is_given: bool = False
    """The command line gave it."""
    turns_off: str = ""
    """The word given to a `type=bool` option that says no: `False`, `0`, `off`."""


@table("options")
@dataclass(eq=False)
class Options:
    """`run[Options]`"""

    all: list[Option] = field(default_factory=list)
    parsed: Place | None = None
    """Where the command line was parsed."""
