"""Shapes seen: the latest calls of layers that distinguish the time and batch axes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import table

if TYPE_CHECKING:
    from stepscope.evidence.modules import Module
    from stepscope.evidence.visits import Visit


@table("shapes_seen")
@dataclass(eq=False)
class ShapesSeen:
    """`run.shapes_seen`"""

    visits: dict[Module, deque[Visit]] = field(default_factory=dict)

    def of(self, *kinds: str) -> list[tuple[Module, list[Visit]]]:
        """The layers of these kinds that ran, each with its latest calls."""
        return [(module, list(visits)) for module, visits in self.visits.items() if module.is_a(*kinds)]
