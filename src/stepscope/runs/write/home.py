"""The folder of a run that another process creates: until it is known, logged data waits in the backlog."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from stepscope.runs.write.fallback_dir import Refuge


class Home(NamedTuple):
    """Where a process writes, and under which identity."""

    path: Path
    run_id: str
    attempt: int


Seek = Callable[[bool], Home | None]
"""Returns the folder if it is known by now; with True it must decide, because the process is ending."""


class AwaitedRefuge(Refuge):
    """A fallback whose folder is not known yet. Queries never wait."""

    def __init__(self, provisional: Path, seek: Seek) -> None:
        super().__init__(provisional)
        self.is_final = False
        """The process is about to end: the next answer must be a folder."""
        self.home: Home | None = None
        self._seek: Seek | None = seek

    @property
    def is_awaited(self) -> bool:
        return self._seek is not None

    def arrive(self) -> Home | None:
        """The folder, once it is known. Raises OSError if no folder can be created."""
        home = None if self._seek is None else self._seek(self.is_final)
        if home is not None:
            self.home, self._seek = home, None
            super().__init__(home.path)
        return home
