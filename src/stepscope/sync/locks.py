"""One writer at a time for each file of a store, among the threads of this process and among processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

from stepscope.runs.format.filesystem import make_common_folder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FOLDER = ".locks"
_LOCKS = 64


def between_processes() -> bool:
    """Whether this system keeps processes apart; where it does not, one server may use a store."""
    return fcntl is not None


class PathLocks:
    """A fixed number of locks, shared out by the path. The system releases those of a killed process."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._threads = [threading.Lock() for _ in range(_LOCKS)]
        self._files: dict[int, int] = {}

    @contextmanager
    def locked(self, path: Path) -> Iterator[None]:
        number = crc32(os.path.relpath(path, self._store).encode("utf-8", "surrogateescape")) % _LOCKS
        with self._threads[number]:
            fd = self._file(number)
            if fd is None:
                yield
                return
            fcntl.flock(fd, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(fd, fcntl.LOCK_UN)

    def _file(self, number: int) -> int | None:
        """The open lock file; None where there can be none yet, because the store is not there."""
        if fcntl is None or not self._store.is_dir():
            return None
        if number not in self._files:
            make_common_folder(self._store / FOLDER)
            self._files[number] = os.open(
                self._store / FOLDER / f"{number:02d}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o660
            )
        return self._files[number]

    def close(self) -> None:
        while self._files:
            os.close(self._files.popitem()[1])

    def __del__(self) -> None:
        self.close()
