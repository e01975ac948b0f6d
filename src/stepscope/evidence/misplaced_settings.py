"""Settings that were assigned to an optimizer itself, which only reads its parameter groups."""

from __future__ import annotations

from dataclasses import dataclass, field

from stepscope.evidence.registry import record, table

__all__ = ["MisplacedSetting", "MisplacedSettings"]


@record
@dataclass(eq=False)
class MisplacedSetting:
    """A number that an optimizer has as an attribute, under the name of a setting of its groups."""

    optimizer: str
    """Its type."""
    name: str
    value: float
    in_groups: list[float]
    """What the groups have instead."""


@table("misplaced_settings")
@dataclass(eq=False)
class MisplacedSettings:
    """`run[MisplacedSettings]`"""

    all: list[MisplacedSetting] = field(default_factory=list)
