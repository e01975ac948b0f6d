"""One clock for all ranks: processes of one machine share theirs, others are moved until collectives end together.

All ranks leave a collective at about the same moment, so the median difference of their ends is that of the clocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.profile.collectives import Collectives, collectives_of, matched
from stepscope.profile.profile import Profile

_CERTAIN = 5
"""An offset counts when it is this many times what its estimates scatter by."""
_LEAST_NS = 200_000


@dataclass(frozen=True)
class Clocks:
    offset_ns: dict[int, int]
    """Added to a rank's times."""
    scatter_ns: dict[int, int]
    """Half of the estimates of a rank's offset lie within this of it: how well it is known."""
    notes: list[str]


def align(profile: Profile, found: dict[int, Collectives] | None = None) -> Clocks:
    """How far each rank's clock is from the first rank's."""
    ranks = profile.ranks
    hosts = {rank: _host(profile, rank) for rank in ranks}
    offset, scatter = dict.fromkeys(ranks, 0), dict.fromkeys(ranks, 0)
    notes: list[str] = []
    if len(ranks) < 2:
        return Clocks(offset, scatter, notes)
    if len(set(hosts.values())) == 1 and hosts[ranks[0]]:
        return Clocks(offset, scatter, ["all ranks ran on one machine and share its clock"])
    by_rank = found if found is not None else {r: collectives_of(t) for r in ranks if (t := profile.trace(r))}
    pairs = matched(by_rank)
    first = ranks[0]
    for rank in ranks[1:]:
        gaps = [
            int(by_rank[first].end[places[first]] - by_rank[rank].end[places[rank]])
            for places in pairs
            if first in places and rank in places
        ]
        if not gaps:
            notes.append(f"rank {rank} has no collective in common with rank {first}: its clock is taken as it is")
            continue
        middle = int(np.median(gaps))
        scatter[rank] = int(np.median(np.abs(np.array(gaps) - middle)))
        if abs(middle) > max(_CERTAIN * scatter[rank], _LEAST_NS):
            offset[rank] = middle
            notes.append(
                f"rank {rank}'s clock was moved by {middle / 1e6:+.3f} ms: then {len(gaps)} collectives end together "
                f"(half of them within {scatter[rank] / 1e3:.0f} us)"
            )
    return Clocks(offset, scatter, notes)


def _host(profile: Profile, rank: int) -> str:
    trace = profile.trace(rank)
    said = "" if trace is None else str(trace.events.header.fields.get("host_name") or "")
    return said or profile.meta.host
