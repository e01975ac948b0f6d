"""The folder of a run that another process makes: until it is there, what is logged waits in the backlog."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from stepscope.runs.write.fallback_dir import Refuge

__all__ = ["AwaitedRefuge", "Home", "Seek"]


class Home(NamedTuple):
    """Where a process writes, and as what."""

    path: Path
    run_id: str
    attempt: int


Seek = Callable[[bool], Home | None]
"""Asked whether the folder is known by now; with True it must decide, because the process ends."""


class AwaitedRefuge(Refuge):
    """A refuge whose folder is not known yet. Asking never waits."""

    def __init__(self, provisional: Path, seek: Seek) -> None:
        super().__init__(provisional)
        self.is_final = False
        """The process is about to end: the next answer has to be a folder."""
        self.home: Home | None = None
        self._seek: Seek | None = seek

    @property
    def is_awaited(self) -> bool:
        return self._seek is not None

    def arrive(self) -> Home | None:
        """The folder, the first time that it is known. Raises OSError where no folder can be made."""
        home = None if self._seek is None else self._seek(self.is_final)
        if home is not None:
            self.home, self._seek = home, None
            super().__init__(home.path)
        return home
