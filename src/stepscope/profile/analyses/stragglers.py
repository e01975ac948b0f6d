"""Who comes last to the collectives, how often, and what the others lose by it."""

from __future__ import annotations

import numpy as np

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.communication import collectives_by_rank
from stepscope.profile.clocks import align
from stepscope.profile.collectives import matched
from stepscope.profile.profile import Profile
from stepscope.records.profile import Column, Sheet

_CLEAR = 3
"""A rank that comes last counts when it is later than the one before by this many times the clocks' scatter."""


@analysis("stragglers", view="ranks", of="ranks")
def stragglers(profile: Profile) -> Sheet | None:
    """Who comes last to the collectives, how often, and what it costs the others."""
    by_rank = collectives_by_rank(profile)
    pairs = matched(by_rank)
    if len(by_rank) < 2 or not pairs:
        return None
    clocks = align(profile, by_rank)
    last, late, cost = (dict.fromkeys(by_rank, 0) for _ in range(3))
    unclear = 0
    for places in pairs:
        comes = {r: int(by_rank[r].start[at]) + clocks.offset_ns.get(r, 0) for r, at in places.items()}
        order = sorted(comes, key=lambda rank: comes[rank])
        slowest, before = order[-1], order[-2]
        if comes[slowest] - comes[before] < _CLEAR * max(clocks.scatter_ns.values()):
            unclear += 1
            continue
        last[slowest] += 1
        late[slowest] += comes[slowest] - int(np.median(list(comes.values())))
        # Only the time after the second slowest came is this rank's doing alone.
        cost[slowest] += (comes[slowest] - comes[before]) * (len(order) - 1)
    rows = [
        [rank, last[rank], last[rank] / len(pairs), late[rank] // last[rank] if last[rank] else None, cost[rank]]
        for rank in by_rank
    ]
    rows.sort(key=lambda row: -float(row[4] or 0))
    notes = list(clocks.notes)
    if unclear:
        notes.append(f"of {unclear:,} collectives it cannot be told who came last: closer than the clocks are known")
    return Sheet(
        id="stragglers",
        title="Stragglers",
        columns=[
            Column(key="rank", label="rank", unit="count"),
            Column(key="last", label="came last", unit="count", help="Number of collectives.", sums=True),
            Column(key="share", label="of all", unit="share", help="Of the collectives that several ranks have."),
            Column(key="late_ns", label="late by", unit="ns", help="Then, after the median rank, on average."),
            Column(
                key="cost_ns",
                label="cost",
                unit="ns",
                help="Time all others waited for this rank alone, summed.",
                sums=True,
            ),
        ],
        rows=rows,
        sort="cost_ns",
        notes=notes,
    )
