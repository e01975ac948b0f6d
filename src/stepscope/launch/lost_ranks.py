"""A rank that lost its connection to another: what the others did, and so why it was left alone.

Where a backend notices (gloo), ranks that part do not hang: the one that still waits fails when another has ended or
was aborted. Its own error names neither.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import msgspec

from stepscope.diagnose.fatal import fatal_states
from stepscope.diagnose.hangs import parted_finding
from stepscope.launch.flight_recorder import read_sent
from stepscope.launch.rank_channel import Channel
from stepscope.launch.rank_notes import is_lost_connection
from stepscope.launch.rank_state import RankFrame, main_stack, state_of
from stepscope.records import Finding
from stepscope.records.hang import RankState

if TYPE_CHECKING:
    from stepscope.record.observers.watcher import Watcher

__all__ = ["aborted_beside", "left_alone"]

WAIT_S = 1.0
"""How long the others have to say that they have ended."""
_MOST = 256


def left_alone(
    channel: Channel, watcher: Watcher | None, folder: Path | None, crash: BaseException, wait_s: float = WAIT_S
) -> Finding | None:
    """For a rank whose connection broke: None where another one failed for a reason of its own, or nobody knows."""
    until = time.monotonic() + wait_s
    while True:
        aborted, ended = fatal_states(folder), _ended(channel)
        if any(one.error and not is_lost_connection(RuntimeError(one.error)) for one in ended):
            return None
        if aborted or len(ended) >= min(channel.size, _MOST) - 1 or time.monotonic() > until:
            break
        time.sleep(0.02)
    return _finding(channel, watcher, _crash_frames(crash), aborted, ended)


def aborted_beside(
    channel: Channel, watcher: Watcher | None, folder: Path | None, crash: BaseException | None
) -> Finding | None:
    """For a rank that is asked to end: whether that is because C++ code has ended another."""
    aborted = fatal_states(folder)
    if not aborted:
        return None
    frames = main_stack() if crash is None else _crash_frames(crash)
    return _finding(channel, watcher, frames, aborted, _ended(channel))


def _finding(
    channel: Channel,
    watcher: Watcher | None,
    frames: Sequence[RankFrame],
    aborted: list[RankState],
    ended: list[RankState],
) -> Finding | None:
    aborted = [one for one in aborted if one.rank != channel.rank and one.rank < channel.size]
    known = {one.rank for one in aborted}
    others = [*aborted, *(one for one in ended if one.rank not in known and not one.error)]
    if not others:
        return None
    return parted_finding([state_of(channel.rank, watcher, frames, sent=read_sent()), *others])


def _ended(channel: Channel) -> list[RankState]:
    """What the other ranks said when they ended."""
    others = [rank for rank in range(min(channel.size, _MOST)) if rank != channel.rank]
    said = [one for rank in others if (one := channel.get(f"ended/{rank}")) is not None]
    return [msgspec.json.decode(one, type=RankState) for one in said]


def _crash_frames(crash: BaseException) -> Sequence[RankFrame]:
    """The frames of an exception, the innermost last."""
    frames: list[RankFrame] = []
    trace = crash.__traceback__
    while trace is not None:
        frames.append(SimpleNamespace(f_code=trace.tb_frame.f_code, f_lineno=trace.tb_lineno))
        trace = trace.tb_next
    return frames
