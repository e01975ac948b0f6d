"""A series as a node keeps it of its ranks, read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stepscope.runs.points.rank_cells import CELL, Floats, Whole, columns_of

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
    parts = [(segment.header.attempt, *segment.rows_of(columns_of(name))) for segment in segments]
    until = _repeated_from([(attempt, steps) for attempt, steps, _ in parts])
    kept = [(steps, values, steps < until[attempt]) for attempt, steps, values in parts]
    values = np.concatenate([values[:, own] for _, values, own in kept], axis=1)
    return NodeBand(
        host, ranks, np.concatenate([steps[own] for steps, _, own in kept]), dict(zip(CELL, values, strict=True))
    )


def _repeated_from(parts: Sequence[tuple[int, Whole]]) -> dict[int, float]:
    """By attempt: the first step that a later one has repeated."""
    firsts = {attempt: np.inf for attempt, _ in parts}
    for attempt, steps in parts:
        firsts[attempt] = min(firsts[attempt], float(steps.min(initial=np.iinfo(np.int64).max)))
    return {
        attempt: min((first for later, first in firsts.items() if later > attempt), default=np.inf)
        for attempt in firsts
    }
