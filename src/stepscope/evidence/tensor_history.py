"""Tensor history: the last traced operation that raised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Failed:
    """The last op that raised, and its inputs."""

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
    """Number of observed ops."""
