"""The rank that the others wait for: which phase of its step is slower than on other ranks, and on which machine.

Ranks that average gradients have equal step times: the fast ones wait in their backward pass. So only the other
phases, which do not involve waiting, are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from stepscope.runs.read.node_bands import NodeBand, node_bands, node_series

if TYPE_CHECKING:
    from stepscope.runs.read.across_ranks import Floats
    from stepscope.runs.read.folder import RunFolder

SLOW_PHASES = {
    "data": "loading data",
    "h2d": "copying to the device",
    "forward": "the forward pass",
    "optimizer": "the optimizer step",
    "other": "other code",
}
_ALL = (*SLOW_PHASES, "backward")
_CANDIDATES, _OTHERS = 8, 64
"""Number of suspected ranks, and of others they are compared with."""
_FEW = 5
"""Minimum number of intervals per rank."""
_SHARE, _LEAST_MS = 0.1, 1.0
"""Minimum difference worth reporting: as a fraction of a step, and in milliseconds."""


class SlowRank(msgspec.Struct, frozen=True):
    """A rank that is slower than the others in one phase of its step most of the time."""

    rank: int
    host: str
    phase: str
    ms: float
    """Time of the phase per step on this rank; the median over time."""
    others_ms: float
    step_ms: float
    """Step time on the other ranks."""

    def words(self) -> str:
        """The message to show.

        >>> SlowRank(3, "node-b", "data", 41.0, 3.0, 120.0).words()
        'rank 3 (node-b) is slow in loading data: 41 ms per step, the other ranks 3 ms (a step takes 120 ms)'
        """
        where = f" ({self.host})" if self.host else ""
        return (
            f"rank {self.rank}{where} is slow in {SLOW_PHASES[self.phase]}: {self.ms:.3g} ms per step, "
            f"the other ranks {self.others_ms:.3g} ms (a step takes {self.step_ms:.3g} ms)"
        )


def hosts_of(run: RunFolder) -> dict[int, str]:
    """The machine of each rank, in its newest attempt."""
    return {one.rank: one.host for one in run.attempts}


def slow_ranks(run: RunFolder) -> list[SlowRank]:
    """The ranks that stand out, the slowest first; at most one of each phase."""
    names = {*run.metrics(), *node_series(run)}
    phases = [phase for phase in _ALL if f"time/{phase}_ms" in names]
    if not phases or len(run.ranks) < 2:
        return []
    rows = {phase: _Rows(run, f"time/{phase}_ms") for phase in phases}
    usual = {phase: rows[phase].medians() for phase in phases}
    step_ms = sum(float(np.median(list(one.values()))) for one in usual.values() if one)
    found = [_slowest(run, phase, rows[phase], usual[phase], step_ms) for phase in phases if phase in SLOW_PHASES]
    return sorted((one for one in found if one is not None), key=lambda one: one.others_ms - one.ms)


class _Rows:
    """The times of one phase: of each rank that has its own, and of each node that keeps only a band of its ranks."""

    def __init__(self, run: RunFolder, name: str) -> None:
        self._run, self._name = run, name
        self._ranks = run.ranks_with(name)
        self._nodes = {_most_often_high(band): band for band in node_bands(run, name)}

    def medians(self) -> dict[int, float]:
        """The usual time of some rows, by rank."""
        compared = [*self._ranks, *self._nodes]
        few = compared[:: max(1, -(-len(compared) // _OTHERS))]
        return {rank: float(np.median(times)) for rank in few if len(times := self.times(rank)) >= _FEW}

    def suspects(self) -> list[int]:
        """The rows that take the longest."""
        means = {rank: _mean(band.columns["mean"]) for rank, band in self._nodes.items()}
        means |= {rank: self._run.metric_summary(self._name, rank).mean for rank in self._ranks}
        known = [rank for rank in means if means[rank] == means[rank]]
        return sorted(known, key=lambda rank: -means[rank])[:_CANDIDATES]

    def times(self, rank: int) -> Floats:
        is_own = rank in self._ranks
        values = self._run.series(self._name, rank).values if is_own else self._nodes[rank].columns["mean"]
        finite: Floats = values[np.isfinite(values)]
        return finite


def _most_often_high(band: NodeBand) -> int:
    """The rank that a node as a whole is named by."""
    ranks, times = np.unique(band.columns["high_rank"], return_counts=True)
    return int(ranks[times.argmax()]) if len(ranks) and ranks[times.argmax()] >= 0 else band.ranks[0]


def _mean(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")


def _slowest(run: RunFolder, phase: str, rows: _Rows, usual: dict[int, float], step_ms: float) -> SlowRank | None:
    """The slowest rank of one phase, if it is slow most of the time."""
    best = None
    for rank in rows.suspects():
        others = [ms for one, ms in usual.items() if one != rank]
        times = rows.times(rank)
        if not others or len(times) < _FEW:
            continue
        ms, others_ms = float(np.median(times)), float(np.median(others))
        is_worth_it = ms - others_ms >= max(_LEAST_MS, _SHARE * step_ms)
        is_lasting = float(np.quantile(times, 0.25)) > float(np.quantile(others, 0.9))
        if is_worth_it and is_lasting and (best is None or ms > best.ms):
            best = SlowRank(rank, hosts_of(run).get(rank, ""), phase, ms, others_ms, step_ms)
    return best
