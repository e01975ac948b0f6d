"""Devices: where a tensor that the script did not move to its device meets one that it did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.modules import Module
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place

MOVED, LOCAL, BOTH = "moved", "local", "both"
"""BOTH: `f(x.to(device))` gives the very same tensor on a CPU, so it counts as both unmoved, under its old name, and
moved. It is never evidence, except inside a model that was moved."""


@record
@dataclass(eq=False)
class Meeting:
    """An op that read a tensor of the chosen device and one that was never moved there."""

    op: str
    place: Place | None
    local: Origin
    moved: Origin
    visit: Visit | None = None
    attribute: tuple[Module, str] | None = None
    """(module, name) if the unmoved tensor is (made from) a plain attribute of a module."""
    module: Module | None = None
    """The module that was never moved, if the unmoved tensor is a parameter."""
    step: int = 0


@table("devices")
@dataclass(eq=False)
class Devices:
    """`run.devices`"""

    meetings: list[Meeting] = field(default_factory=list)
    chosen: Place | None = None
    """Where the script first moved something to a device of its choice."""
    training_began: int | None = None
    """The op's number when the first batch was delivered or the first model called: everything before is setup."""
