"""One import of one folder into one store at a time: two would undo each other's work."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from stepscope.errors import Conflict
from stepscope.runs.format.filesystem import try_lock


class ImportLock:
    """Held by the importing process; the system releases it when the process ends."""

    def __init__(self, store: Path, name: str) -> None:
        self._path = store / f".import-{name}.lock"
        self._fd: int | None = None

    def take(self) -> bool:
        """Try to acquire it; False if another process has it."""
        if self._fd is not None:
            return True
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        if not try_lock(fd):
            os.close(fd)
            return False
        self._fd = fd
        return True

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> ImportLock:
        if not self.take():
            raise Conflict(
                f"another process is importing the same folder into {self._path.parent}; wait until it is done, "
                "or stop it (`stepscope import --follow` and `stepscope ui` run until they are stopped)"
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
