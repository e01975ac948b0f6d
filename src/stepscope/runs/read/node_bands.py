"""A series as a node keeps it of its ranks, read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stepscope.runs.points.rank_cells import CELL, Floats, Whole, column_name

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder
    from stepscope.runs.read.segments import Segment


@dataclass(frozen=True)
class NodeBand:
    """One series of the ranks of one machine, by interval of steps."""

    host: str
    ranks: list[int]
    steps: Whole
    columns: dict[str, Floats]
    """By the names in `CELL`; a later attempt's intervals replace those it has repeated."""


def node_series(run: RunFolder) -> dict[str, dict[str, list[Segment]]]:
    """The series that nodes keep of their ranks: by machine, the segments that have it."""
    found: dict[str, dict[str, list[Segment]]] = run._remember("node series", lambda logs: logs.node_series())
    return found


def node_bands(run: RunFolder, name: str) -> list[NodeBand]:
    """One series as nodes keep it of their ranks, a band for each node; none where every rank's log is here."""
    ranks: dict[str, list[int]] = run._remember("node ranks", lambda logs: logs.node_ranks())
    found = [
        _band(name, host, ranks[host], segments)
        for host, segments in node_series(run).get(name, {}).items()
        if ranks.get(host)
    ]
    return sorted(found, key=lambda band: band.ranks[0])


def _band(name: str, host: str, ranks: list[int], segments: Sequence[Segment]) -> NodeBand:
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
