"""Options: the numbers and switches that argparse gave the script, by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Option:
    """One option of a parser."""

    name: str
    """Its name in the script: `weight_decay`."""
    flags: list[str] = field(default_factory=list)
    """Its command-line form: `--weight-decay`."""
    type: str = ""
    """The name of the function that converts it."""
    value: float | None = None
    """Its value; None for anything but a number or a switch."""
    is_given: bool = False
    """It was given on the command line."""
    turns_off: str = ""
    """A negative word given to a `type=bool` option: `False`, `0`, `off`."""


@table("options")
@dataclass(eq=False)
class Options:
    """`run[Options]`"""

    all: list[Option] = field(default_factory=list)
    parsed: Place | None = None
    """Where the command line was parsed."""
