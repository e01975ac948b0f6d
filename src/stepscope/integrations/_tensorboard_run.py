"""Which run a writer writes to: each writer has its own, as each had its own folder.

The first writer of a process opens the process's run, with console, machine and environment; a run already opened by
the script or `stepscope run` is used instead, and left open. Further writers open separate runs.
"""

from __future__ import annotations

import atexit
import os
import weakref
from pathlib import Path

from stepscope.fence import fenced
from stepscope.track import messages, session
from stepscope.track.ending import ending_of
from stepscope.track.masked_writer import MaskedWriter
from stepscope.track.resume import past_of
from stepscope.track.run import Run
from stepscope.track.secondary_run import open_detached
from stepscope.track.sink import RunSink

__all__ = ["WriterRun", "name_of"]

_NOTE = ".stepscope-run"
_open: weakref.WeakSet[WriterRun] = weakref.WeakSet()


def name_of(log_dir: str) -> str:
    """A run's name from its folder: without TensorBoard's usual `runs/`, and only the end of a long path.

    >>> [name_of(path) for path in ("runs/exp1", "logs/vae/wide", "/scratch/me/project/runs/a/b", ".")]
    ['exp1', 'logs/vae/wide', 'a/b', 'run']
    """
    parts = [part for part in Path(log_dir).parts if part not in (os.sep, ".", "..")]
    below = max((place + 1 for place, part in enumerate(parts[:-1]) if part == "runs"), default=0)
    if not below and Path(log_dir).is_absolute():
        below = max(0, len(parts) - 2)
    return "/".join(parts[below:]) or "run"


class WriterRun:
    """The run of one writer: opened with it, reopened if something is added after its close."""

    def __init__(self, log_dir: str, purge_step: int | None, *, records: bool = True) -> None:
        self._log_dir = log_dir
        self._name = name_of(log_dir)
        self._is_mine = True
        self._is_detached = False
        self.run = self._first(purge_step) if records else open_detached(name=self._name, records=False)
        _open.add(self)

    def _first(self, purge_step: int | None) -> Run:
        current = session.current()
        if current is not None and not any(other.run.id == current.id for other in _open):
            self._is_mine = False
            return current
        earlier = self._earlier() if purge_step is not None else None
        if current is not None:
            self._is_detached = True
            run = _again(earlier) if earlier is not None else open_detached(name=self._name)
        else:
            run = session.init(name=self._name, resume=earlier)
        if earlier is not None:
            run.rewind(purge_step)
        self._leave_note(run)
        return run

    def _earlier(self) -> Path | None:
        """The earlier run of the same folder, if it still exists."""
        try:
            path = Path((Path(self._log_dir) / _NOTE).read_text().strip())
        except OSError:
            return None
        return path if (path / "meta.json").is_file() else None

    @fenced("noting the run in its folder")
    def _leave_note(self, run: Run) -> None:
        if run.path is not None:
            (Path(self._log_dir) / _NOTE).write_text(f"{run.path}\n")

    def ready(self) -> Run:
        """The run, open."""
        if not self.run.is_finished:
            return self.run
        path = self.run.path
        if path is None:
            return self.run
        current = session.current()
        if current is not None and current is not self.run:
            self._is_detached = True
            self.run = _again(path)
        else:
            self.run = session.init(resume=path)
        _open.add(self)
        return self.run

    def close(self, error: BaseException | None = None) -> None:
        """End the run, unless it was open before the writer was."""
        if self._is_mine:
            self.run._end(ending_of(error))
        _open.discard(self)


def _again(path: Path) -> Run:
    """Another attempt of a run, beside the process's own."""
    past = past_of(path)
    writer = MaskedWriter(
        path, run_id=past.meta.id, attempt=past.attempt, first_step=past.next_step, on_problem=messages.say
    )
    return Run(
        past.meta, path, writer, RunSink(writer), config=past.config, first_step=past.next_step or 0,
        attempt=past.attempt,
    )  # fmt: skip


@atexit.register
@fenced("closing writers")
def _close_all() -> None:
    for one in list(_open):
        if one._is_detached:
            one.close()
