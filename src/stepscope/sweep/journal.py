"""The one small file of a sweep: a line for each setting that was chosen, started, and over.

Everything else is in the run folders. Each line is written and synced before what it says is acted upon, so that a
sweep killed at any moment knows what it had begun; a torn last line is a line that was not written.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepscope.errors import Conflict
from stepscope.files.opening import open_writable, read_file
from stepscope.runs.format.filesystem import make_folder, try_lock

FOLDER = ".sweeps"
WORKER = "worker-"
"""So begin the folders of workers that share a sweep."""

JOURNAL = "journal.jsonl"
_LARGEST = 1 << 30
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")


def folder_of(store: Path, name: str) -> Path:
    """Where a sweep keeps its journal and its runs' output; whatever it is called, inside the store.

    >>> folder_of(Path("runs"), "../lr & width").as_posix()
    'runs/.sweeps/lr-width-91f0892b'
    """
    from hashlib import sha256

    safe = _NOT_IN_NAMES.sub("-", name).strip("-.")[:60]
    if safe != name or not safe:  # two names must not meet in one folder
        safe = f"{safe}-{sha256(name.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}".lstrip("-")
    return store / FOLDER / safe


class Journal:
    """The journal of one sweep. Reading needs no lock; writing does, and one process at a time has it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / JOURNAL
        self.torn = 0
        """Lines of no use: a kill tore them, or the disk did."""
        self._fd: int | None = None

    @property
    def exists(self) -> bool:
        return self.path.is_file()

    def read(self) -> Iterator[dict[str, Any]]:
        """Every line that was written."""
        try:
            data = read_file(self.path, _LARGEST, within=self.folder)
        except FileNotFoundError:
            return
        for line in data.split(b"\n"):
            try:
                entry = json.loads(line) if line.strip() else None
            except (ValueError, RecursionError):
                self.torn += 1
                continue
            if isinstance(entry, dict) and isinstance(entry.get("event"), str):
                yield entry

    def open(self) -> None:
        """Take the journal for writing; `Conflict` when another sweep process has it."""
        make_folders(self.folder)
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        if not try_lock(fd):
            os.close(fd)
            raise Conflict(
                f"this sweep is being run already (its journal {self.path} is in use); "
                "watch it with --status, or give this one another `name:`"
            )
        self._fd = fd
        if os.lseek(fd, 0, os.SEEK_END):
            os.lseek(fd, -1, os.SEEK_END)
            if os.read(fd, 1) != b"\n":  # torn by a kill: the next line must begin one of its own
                os.write(fd, b"\n")

    def write(self, event: str, **values: Any) -> None:
        assert self._fd is not None, "open() first"
        line = json.dumps({"event": event, "time": round(time.time(), 3), **values}, default=str)
        os.write(self._fd, line.encode("utf-8", "backslashreplace") + b"\n")
        os.fsync(self._fd)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def is_locked(self) -> bool:
        """Whether a sweep process has it now."""
        try:
            with open_writable(self.path, within=self.folder) as file:
                return not try_lock(file.fileno())
        except OSError:
            return False

    def put_aside(self) -> Path | None:
        """Move an earlier sweep of this name out of the way; its runs stay where they are."""
        if not self.folder.exists():
            return None
        self.open()  # not while it runs
        self.close()
        number = 1
        while (aside := self.folder.with_name(f"{self.folder.name}.{number}")).exists():
            number += 1
        self.folder.rename(aside)
        return aside


def make_folders(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not folder.is_dir():
        make_folder(folder)
