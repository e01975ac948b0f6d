"""Host reads: training values that the script read out of torch (`item()`, `numpy()`) while it trained."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class HostRead:
    """One read."""

    origin: Origin
    """Of the tensor that was read."""
    place: Place | None
    step: int
    backward: int
    """Number of backwards so far."""
    index: int
    """Number of ops so far."""
    value: float | None = None
    """Of a single number."""


@table("host_reads")
@dataclass(eq=False)
class HostReads:
    """`run.host_reads`"""

    all: list[HostRead] = field(default_factory=list)
