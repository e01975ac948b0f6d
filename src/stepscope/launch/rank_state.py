"""What this rank is doing right now: read from the Python stack of its main thread, at no cost to it."""

from __future__ import annotations

import os
import sys
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING, Any

from stepscope.common.code_owner import is_ours, is_own_file
from stepscope.records.hang import RankState
from stepscope.runs.format.writer_identity import host_name

if TYPE_CHECKING:
    from stepscope.record.observers.watcher import Watcher

__all__ = ["main_stack", "state_of"]

_MOST_FRAMES = 40
_LIBRARY = (
    ("torch/distributed/distributed_c10d.py", "collective", ""),
    ("torch/distributed/_functional_collectives.py", "collective", ""),
    ("torch/distributed/fsdp/", "collective", "FSDP"),
    ("torch/distributed/utils.py", "collective", "a check across ranks"),
    ("torch/nn/parallel/distributed.py", "collective", "DistributedDataParallel"),
    ("torch/utils/data/dataloader.py", "data", "DataLoader next"),
    ("torch/autograd/graph.py", "backward", "backward"),
    ("torch/_tensor.py", "backward", "backward"),
    ("torch/optim/", "optimizer", "optimizer step"),
)
"""Where a frame lies, and what it means there; "": the name of the function."""


def main_stack() -> list[FrameType]:
    """The frames of the main thread, the innermost last; ours are left out."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    frames: list[FrameType] = []
    while frame is not None:
        if not is_ours(frame.f_code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    return frames[::-1]


def state_of(rank: int, watcher: Watcher | None, frames: list[FrameType], **more: Any) -> RankState:
    """One rank's state, for the others."""
    kind, doing = _meaning(frames)
    file, line = _own_place(frames)
    calls = () if watcher is None else tuple(watcher.collectives.recent)
    call = None if watcher is None or kind != "collective" else watcher.collectives.now
    stack = [(one.f_code.co_filename, one.f_lineno, one.f_code.co_name) for one in frames[-_MOST_FRAMES:]]
    return RankState(
        rank=rank,
        host=host_name(),
        pid=os.getpid(),
        time=time.time(),
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


def _meaning(frames: list[FrameType]) -> tuple[str, str]:
    """What a stack is about: what the script's innermost call into torch does, else the script's own function."""
    found: tuple[str, str] | None = None
    own = ""
    for frame in frames:
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        if is_own_file(file):
            own = _function(name)
            if found is not None and found[0] != "data":  # a model called by its wrapper, a hook: the script's again
                found = None
        elif found is None:
            found = _known_call(file.replace(os.sep, "/"), name)
    return found or ("python", own)


def _known_call(file: str, name: str) -> tuple[str, str] | None:
    for part, kind, doing in _LIBRARY:
        if part in file:
            return kind, doing or name
    return None


def _function(name: str) -> str:
    return "the script" if name == "<module>" else f"{name}()"


def _own_place(frames: list[FrameType]) -> tuple[str, int]:
    """The innermost line of the user's own."""
    for frame in reversed(frames):
        if is_own_file(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
    return ("", 0)
