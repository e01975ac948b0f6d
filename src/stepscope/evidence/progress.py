"""Progress: how far the run came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.evidence.registry import table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["Progress"]


@table("progress")
@dataclass(eq=False)
class Progress:
    """`run.progress`"""

    step: int = 0
    """How many optimizer steps have been taken."""
    batches: int = 0
    """How many batches loaders have delivered."""
    compiled: Place | None = None
    """Where the script first called torch.compile."""
    over: bool = False
    """The script has ended: what has not happened by now will not happen."""
