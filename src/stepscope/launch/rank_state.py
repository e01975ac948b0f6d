"""What this rank is doing right now: read from the Python stack of its main thread, at no cost to it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from types import CodeType, FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

from stepscope.common import clocks
from stepscope.common.code_owner import is_ours, is_own_file
from stepscope.diagnose.known_frames import meaning_of
from stepscope.records.hang import RankState
from stepscope.runs.format.writer_identity import host_name

if TYPE_CHECKING:
    from stepscope.record.observers.watcher import Watcher

__all__ = ["RankFrame", "main_stack", "state_of"]

_MOST_FRAMES = 40


class RankFrame(Protocol):
    """A frame of the stack, or of a traceback."""

    @property
    def f_code(self) -> CodeType: ...
    @property
    def f_lineno(self) -> int: ...


def main_stack() -> list[FrameType]:
    """The frames of the main thread, the innermost last; ours are left out."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    frames: list[FrameType] = []
    while frame is not None:
        if not is_ours(frame.f_code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    return frames[::-1]


def state_of(rank: int, watcher: Watcher | None, frames: Sequence[RankFrame], **more: Any) -> RankState:
    """One rank's state, for the others."""
    kind, doing = meaning_of((one.f_code.co_filename, one.f_code.co_name) for one in frames)
    file, line = own_place(frames)
    calls = () if watcher is None else tuple(watcher.collectives.recent)
    call = None if watcher is None or kind != "collective" else watcher.collectives.now
    stack = [(one.f_code.co_filename, one.f_lineno, one.f_code.co_name) for one in _from_the_script(frames)]
    return RankState(
        rank=rank,
        host=host_name(),
        pid=os.getpid(),
        time=clocks.time(),
        kind=kind,
        doing=doing if call is None else call.name,
        number=None if call is None else call.number,
        shape=() if call is None else call.shape,
        file=file,
        line=line,
        step=0 if watcher is None else watcher.step,
        batches=0 if watcher is None else watcher.batches,
        stack=tuple(stack),
        calls=calls,
        **more,
    )


def _from_the_script(frames: Sequence[RankFrame]) -> Sequence[RankFrame]:
    """The innermost ones, without those of the launcher that has started the script."""
    first = next((at for at, one in enumerate(frames) if is_own_file(one.f_code.co_filename)), 0)
    return frames[max(first, len(frames) - _MOST_FRAMES) :]


def own_place(frames: Sequence[RankFrame]) -> tuple[str, int]:
    """The innermost line of the user's own."""
    for frame in reversed(frames):
        if is_own_file(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
    return ("", 0)


def crash_frames(crash: BaseException | None) -> Sequence[RankFrame]:
    """The frames of an exception, the innermost last."""
    frames: list[RankFrame] = []
    trace = None if crash is None else crash.__traceback__
    while trace is not None:
        frames.append(SimpleNamespace(f_code=trace.tb_frame.f_code, f_lineno=trace.tb_lineno))
        trace = trace.tb_next
    return frames
