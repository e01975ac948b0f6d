"""Collectives by kind and size: how long they take, how much of it is waiting for the others, how fast the bytes go."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.clocks import Clocks, align
from stepscope.profile.collectives import Collectives, bus_factor, collectives_of, matched
from stepscope.profile.profile import Profile
from stepscope.records.profile import Check, Column, Sheet

Ints = npt.NDArray[Any]

_COLUMNS = [
    Column(key="collective", label="collective"),
    Column(key="bytes", label="size", unit="bytes", help="What one rank sends or receives, whichever is more."),
    Column(key="calls", label="calls", unit="count", help="On all ranks together.", sums=True),
    Column(
        key="total_ns", label="total", unit="ns", help="Time inside the collective, all calls on all ranks.", sums=True
    ),
    Column(key="mean_ns", label="mean", unit="ns", help="Of one call on one rank."),
    Column(key="wait_ns", label="waiting", unit="ns", help="Of the total: waiting for the last rank.", sums=True),
    Column(
        key="transfer_ns", label="transfer", unit="ns", help="Of the total: the rest, which is the transfer.", sums=True
    ),
    Column(key="algorithm_bandwidth", label="bytes/s", unit="bytes", help="Size divided by the mean transfer time."),
    Column(
        key="bus_bandwidth",
        label="bus bytes/s",
        unit="bytes",
        help="The same, scaled by each link's traffic for this collective: comparable with the hardware's bandwidth.",
    ),
    Column(key="group", label="group", hidden=True, help="The process group."),
    Column(key="ranks", label="ranks", unit="count", hidden=True, help="In the group."),
]


@analysis("communication", view="ranks", of="ranks")
def communication(profile: Profile) -> Sheet | None:
    """Collectives by kind and size: duration, waiting for others against transfer, bandwidth."""
    by_rank = collectives_by_rank(profile)
    if not by_rank:
        return None
    clocks = align(profile, by_rank)
    waiting, notes = waits(by_rank, clocks)
    rows = _rows(by_rank, waiting)
    spans = sum(int(found.dur.sum()) for found in by_rank.values())
    rows.sort(key=lambda row: -row[3])
    return Sheet(
        id="communication",
        title="Collectives",
        columns=_COLUMNS,
        rows=rows,
        sort="total_ns",
        checks=[
            Check(
                name="the rows sum to all collectives",
                got=sum(row[3] for row in rows),
                expected=spans,
                ok=sum(row[3] for row in rows) == spans,
            )
        ],
        notes=[*clocks.notes, *notes],
    )


def collectives_by_rank(profile: Profile) -> dict[int, Collectives]:
    """Of every rank that has any."""
    found = {rank: collectives_of(trace) for rank in profile.ranks if (trace := profile.trace(rank)) is not None}
    return {rank: one for rank, one in found.items() if len(one)}


def waits(by_rank: dict[int, Collectives], clocks: Clocks) -> tuple[dict[int, Ints], list[str]]:
    """For each collective of each rank, how long it only waited (-1: unknown); and how that is known."""
    waiting = {rank: np.full(len(found), -1, np.int64) for rank, found in by_rank.items()}
    pairs = matched(by_rank)
    for places in pairs:
        latest = max(int(by_rank[r].start[at]) + clocks.offset_ns.get(r, 0) for r, at in places.items())
        for rank, at in places.items():
            begun = int(by_rank[rank].start[at]) + clocks.offset_ns.get(rank, 0)
            waiting[rank][at] = min(max(latest - begun, 0), int(by_rank[rank].dur[at]))
    alone = sum(int((w < 0).sum()) for w in waiting.values())
    total = sum(len(w) for w in waiting.values())
    for rank, found in by_rank.items():
        _guess(waiting[rank], found)
    if not alone:
        return waiting, [f"waiting is measured: every collective was found on {len(by_rank)} ranks"]
    notes = [
        f"of {alone:,} of {total:,} collectives only one rank is here: the fastest of the same kind and size counts as "
        "its transfer, the rest as waiting"
    ]
    if any((w < 0).any() for w in waiting.values()):
        notes.append("of some not even the size is in the trace: what they waited is unknown")
    return waiting, notes


def _guess(waiting: Ints, found: Collectives) -> None:
    best: dict[tuple[str, int, str], int] = {}
    keys = list(zip(found.kind, found.bytes.tolist(), found.group, strict=True))
    for key, dur in zip(keys, found.dur.tolist(), strict=True):
        best[key] = min(best.get(key, dur), dur)
    for at in np.flatnonzero((waiting < 0) & (found.bytes >= 0)).tolist():
        waiting[at] = int(found.dur[at]) - best[keys[at]]


def _rows(by_rank: dict[int, Collectives], waiting: dict[int, Ints]) -> list[list[Any]]:
    sums: dict[tuple[str, int, str, int], list[int]] = {}
    for rank, found in by_rank.items():
        keys = zip(found.kind, found.bytes.tolist(), found.group, found.group_size.tolist(), strict=True)
        for key, dur, wait in zip(keys, found.dur.tolist(), waiting[rank].tolist(), strict=True):
            held = sums.setdefault(key, [0, 0, 0])
            held[0] += 1
            held[1] += dur
            held[2] = held[2] + wait if held[2] >= 0 <= wait else -1
    rows = []
    for (kind, size, group, ranks), (calls, total, wait) in sums.items():
        transfer = total - wait if wait >= 0 else None
        speed = size * calls / (transfer / 1e9) if size > 0 and transfer else None
        bus = None if speed is None else speed * bus_factor(kind, ranks)
        rows.append([
            kind, size if size >= 0 else None, calls, total, total // calls, wait if wait >= 0 else None, transfer,
            speed, bus, group, ranks if ranks > 0 else None,
        ])  # fmt: skip
    return rows
