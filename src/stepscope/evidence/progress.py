"""Progress: how far the run has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.evidence.registry import table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@table("progress")
@dataclass(eq=False)
class Progress:
    """`run.progress`"""

    step: int = 0
    """Number of steps so far; optimizers that step after one backward make one together."""
    batches: int = 0
    """Number of batches delivered by loaders."""
    compiled: Place | None = None
    """Where the script first called torch.compile."""
    over: bool = False
    """The script has ended: what has not happened by now will not happen."""
