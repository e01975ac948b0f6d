"""Broadcasts: the user's own arithmetic in which one value per row meets another shape."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Broadcast:
    """One place where it happens."""

    place: Place
    op: str
    first: Origin
    second: Origin
    kind: str
    """table: (n, 1) meets (n,) and makes (n, n). square: (n,) meets (n, n), where either axis would match."""
    count: int = 0
    used: bool = False
    """Something has read the result."""
    reduced: bool = False
    """The result was summed or averaged completely."""


@table("broadcasts")
@dataclass(eq=False)
class Broadcasts:
    """`run.broadcasts`"""

    all: list[Broadcast] = field(default_factory=list)
