"""A rank that lost its connection to another: what the others did, and so why it was left alone.

Where a backend notices (gloo), ranks that part do not hang: the one that still waits fails when another has ended or
was aborted. Its own error names neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from stepscope.common import clocks
from stepscope.diagnose.fatal import fatal_states
from stepscope.diagnose.hangs import parted_finding
from stepscope.launch.flight_recorder import read_sent
from stepscope.launch.rank_channel import Channel
from stepscope.launch.rank_notes import is_lost_connection
from stepscope.launch.rank_state import RankFrame, crash_frames, main_stack, state_of
from stepscope.records import Finding
from stepscope.records.hang import RankState

if TYPE_CHECKING:
    from stepscope.record.observers.watcher import Watcher

__all__ = ["aborted_beside", "left_alone"]

WAIT_S = 1.0
"""How long the others have to say that they have ended."""
STOPPED_S = 0.3
"""How long those have to say what they were doing that are asked to end, because C++ code has ended one."""
_MOST = 256


def left_alone(
    channel: Channel, watcher: Watcher | None, folder: Path | None, crash: BaseException, wait_s: float = WAIT_S
) -> Finding | None:
    """For a rank whose connection broke: None where another one failed for a reason of its own, or nobody knows."""
    own = _own_state(channel, watcher, crash_frames(crash))
    until = clocks.monotonic() + wait_s
    while True:
        aborted, ended = fatal_states(folder), _said(channel, "ended")
        if any(one.error and not is_lost_connection(RuntimeError(one.error)) for one in ended):
            return None
        if aborted or len(ended) >= min(channel.size, _MOST) - 1 or clocks.monotonic() > until:
            break
        clocks.sleep(0.02)
    return _finding(channel, own, aborted)


def aborted_beside(
    channel: Channel,
    watcher: Watcher | None,
    folder: Path | None,
    crash: BaseException | None,
    claims: Callable[[], bool] = lambda: True,
) -> Finding | None:
    """For a rank that is asked to end: whether that is because C++ code has ended another. `claims`: whether this rank
    reports it."""
    aborted = fatal_states(folder)
    if not aborted:
        return None
    own = _own_state(channel, watcher, main_stack() if crash is None else crash_frames(crash))
    return _finding(channel, own, aborted) if claims() else None


def _own_state(channel: Channel, watcher: Watcher | None, frames: Sequence[RankFrame]) -> RankState:
    """What this rank is doing, and was until it had to stop; the one that reports it reads that."""
    own = state_of(channel.rank, watcher, frames, sent=read_sent())
    channel.put(f"stopped/{channel.rank}", msgspec.json.encode(own))
    return own


def _finding(channel: Channel, own: RankState, aborted: list[RankState]) -> Finding | None:
    aborted = [one for one in aborted if one.rank != channel.rank and one.rank < channel.size]
    others = {one.rank: one for one in aborted}
    until = clocks.monotonic() + (STOPPED_S if aborted else 0.0)
    while True:
        for one in (*_said(channel, "stopped"), *_said(channel, "ended")):
            if not one.error:
                others.setdefault(one.rank, one)
        if len(others) >= min(channel.size, _MOST) - 1 or clocks.monotonic() >= until:
            break
        clocks.sleep(0.02)
    if not any(one.kind in ("aborted", "ended") for one in others.values()):
        return None
    return parted_finding([own, *(others[rank] for rank in sorted(others))])


def _said(channel: Channel, what: str) -> list[RankState]:
    """What the other ranks said when they ended or had to stop."""
    others = [rank for rank in range(min(channel.size, _MOST)) if rank != channel.rank]
    said = [one for rank in others if (one := channel.get(f"{what}/{rank}")) is not None]
    return [msgspec.json.decode(one, type=RankState) for one in said]
