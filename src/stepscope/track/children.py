"""Processes started by multiprocessing: they end without `atexit`, so their part of a run is closed differently."""

from __future__ import annotations

import sys
from typing import Protocol


class _Finishable(Protocol):
    def finish(self) -> None: ...


def is_child_process() -> bool:
    """Whether multiprocessing started this process, which has then already imported it."""
    package = sys.modules.get("multiprocessing")
    return package is not None and package.parent_process() is not None


def close_with_process(run: _Finishable) -> None:
    """Finish `run` when multiprocessing ends this process."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(None, run.finish, exitpriority=0)


def close_with_process_after_fork(run: _Finishable) -> None:
    """The same, called inside the fork: multiprocessing first drops all finalizers, then accepts new ones."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(run, close_with_process)
