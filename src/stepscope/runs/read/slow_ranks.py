"""The rank that the others wait for: which phase of its step is slower than on other ranks, and on which machine.

Ranks that average gradients have equal step times: the fast ones wait in their backward pass. So only the other
phases, which do not involve waiting, are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

if TYPE_CHECKING:
    from stepscope.runs.read.across_ranks import Floats
    from stepscope.runs.read.folder import RunFolder

__all__ = ["SlowRank", "hosts_of", "slow_ranks"]

_PHASES = {
    "data": "loading data",
    "h2d": "copying to the device",
    "forward": "the forward pass",
    "optimizer": "the optimizer step",
    "other": "other code",
}
_ALL = (*_PHASES, "backward")
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
            f"rank {self.rank}{where} is slow in {_PHASES[self.phase]}: {self.ms:.3g} ms per step, "
            f"the other ranks {self.others_ms:.3g} ms (a step takes {self.step_ms:.3g} ms)"
        )


def hosts_of(run: RunFolder) -> dict[int, str]:
    """The machine of each rank, in its newest attempt."""
    return {one.rank: one.host for one in run.attempts}


def slow_ranks(run: RunFolder) -> list[SlowRank]:
    """The outlier ranks, slowest first; at most one per phase."""
    names = set(run.metrics())
    phases = [phase for phase in _ALL if f"time/{phase}_ms" in names]
    if not phases or len(run.ranks) < 2:
        return []
    ranks = run.ranks
    compared = ranks[:: -(-len(ranks) // _OTHERS)]
    usual = {phase: _medians(run, phase, compared) for phase in phases}
    step_ms = sum(float(np.median(list(one.values()))) for one in usual.values() if one)
    found = [_slowest(run, phase, usual[phase], step_ms) for phase in phases if phase in _PHASES]
    return sorted((one for one in found if one is not None), key=lambda one: one.others_ms - one.ms)


def _medians(run: RunFolder, phase: str, ranks: list[int]) -> dict[int, float]:
    return {rank: float(np.median(times)) for rank in ranks if len(times := _times(run, phase, rank)) >= _FEW}


def _times(run: RunFolder, phase: str, rank: int) -> Floats:
    name = f"time/{phase}_ms"
    if rank not in run.ranks_with(name):
        return np.empty(0)
    values = run.series(name, rank).values
    finite: Floats = values[np.isfinite(values)]
    return finite


def _slowest(run: RunFolder, phase: str, usual: dict[int, float], step_ms: float) -> SlowRank | None:
    """The slowest rank of one phase, if it is slow most of the time."""
    name = f"time/{phase}_ms"
    means = {rank: run.metric_summary(name, rank).mean for rank in run.ranks_with(name)}
    suspects = sorted((rank for rank in means if means[rank] == means[rank]), key=lambda rank: -means[rank])
    best = None
    for rank in suspects[:_CANDIDATES]:
        others = [ms for one, ms in usual.items() if one != rank]
        times = _times(run, phase, rank)
        if not others or len(times) < _FEW:
            continue
        ms, others_ms = float(np.median(times)), float(np.median(others))
        is_worth_it = ms - others_ms >= max(_LEAST_MS, _SHARE * step_ms)
        is_lasting = float(np.quantile(times, 0.25)) > float(np.quantile(others, 0.9))
        if is_worth_it and is_lasting and (best is None or ms > best.ms):
            best = SlowRank(rank, hosts_of(run).get(rank, ""), phase, ms, others_ms, step_ms)
    return best
