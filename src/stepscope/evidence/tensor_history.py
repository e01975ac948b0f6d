"""Tensor history: of all operations that were followed, the last one that raised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place

__all__ = ["Failed", "TensorHistory"]


@record
@dataclass(eq=False)
class Failed:
    """The last op that raised: what it was and what it read."""

    op: str
    place: Place | None
    origins: tuple[Origin, ...]
    visit: Visit | None
    said: str
    """The exception: its class and message."""


@table("tensor_history")
@dataclass(eq=False)
class TensorHistory:
    """`run.tensor_history`"""

    failed: Failed | None = None
    ops: int = 0
    """How many ops were seen."""
