"""A series as a node keeps it of its ranks, read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stepscope.runs.node.cells import CELL, Floats, Whole, column_name

if TYPE_CHECKING:
    from stepscope.runs.read.segments import Segment

__all__ = ["NodeBand", "node_band"]


@dataclass(frozen=True)
class NodeBand:
    """One series of the ranks of one machine, by interval of steps."""

    host: str
    ranks: list[int]
    steps: Whole
    columns: dict[str, Floats]
    """By the names in `CELL`; a later attempt's intervals replace those it has repeated."""


def node_band(name: str, host: str, ranks: list[int], segments: Sequence[Segment]) -> NodeBand:
    """Put together what the node's log has of one series."""
    newest = _from_each_attempt(name, segments)
    found = [(segment.points_since(column_name(name, CELL[0]), ()).steps, segment) for segment in segments]
    taken = [(steps, segment, steps < newest[segment.header.attempt]) for steps, segment in found]
    columns = {
        column: np.concatenate(
            [segment.points_since(column_name(name, column), ()).values[kept] for _, segment, kept in taken]
        )
        for column in CELL
    }
    return NodeBand(host, ranks, np.concatenate([steps[kept] for steps, _, kept in taken]), columns)


def _from_each_attempt(name: str, segments: Sequence[Segment]) -> dict[int, float]:
    """By attempt: the first step that a later one has repeated."""
    firsts: dict[int, float] = {}
    for segment in segments:
        steps = segment.points_since(column_name(name, CELL[0]), ()).steps
        attempt = segment.header.attempt
        if len(steps):
            firsts[attempt] = min(firsts.get(attempt, np.inf), float(steps.min()))
    attempts = {segment.header.attempt for segment in segments}
    return {
        attempt: min((first for later, first in firsts.items() if later > attempt), default=np.inf)
        for attempt in attempts
    }
