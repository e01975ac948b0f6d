"""Layers: the calls inside the last traced call of each model, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import table

if TYPE_CHECKING:
    from stepscope.evidence.modules import Module
    from stepscope.evidence.visits import Visit


@table("layers")
@dataclass(eq=False)
class Layers:
    """`run.layers`"""

    calls: dict[Module, list[Visit]] = field(default_factory=dict)
    """Root module -> the visits of its last traced training call, its own first."""
