"""Other tools' SQLite files, opened so that nothing is written to them.

Read tables only, never views: a view can contain a query that never ends; `sqlite_master` distinguishes them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from stepscope.errors import BadData, UnsafeFile
from stepscope.files.opening import PathLike, open_file, read_window

SERVER_FILE = ".stepscope.db"
"""A team server's own. It may be open in this process, and closing it here would drop SQLite's locks on it (POSIX)."""
_MAGIC = b"SQLite format 3\0"
_BUSY_S = 10.0
_LARGEST_CELL = 256 << 20


def is_database(path: PathLike, *, within: PathLike | None = None) -> bool:
    """Whether a file starts as a SQLite database of another tool; False if it cannot be read."""
    if Path(os.fsdecode(path)).name == SERVER_FILE:
        return False
    try:
        with open_file(path, within=within) as file:
            return read_window(file, 0, len(_MAGIC)) == _MAGIC
    except OSError:
        return False


@contextmanager
def open_database(path: Path, *, within: PathLike | None = None) -> Iterator[sqlite3.Connection]:
    """The database, read-only; raises `BadData` for read errors."""
    with open_file(path, within=within) as file:
        expected = os.fstat(file.fileno())
    for beside in ("-wal", "-shm", "-journal"):
        _check_beside(Path(f"{path}{beside}"))
    try:
        address = f"file:{quote(str(path.absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_S, check_same_thread=False)) as database:
            if not os.path.samestat(expected, os.stat(path)):
                raise UnsafeFile(f"{path} was replaced while it was opened; try again")
            _limit(database)
            yield database
    except sqlite3.Error as fault:
        raise BadData(f"{path} cannot be read as a SQLite database: {fault}") from None


def _check_beside(path: Path) -> None:
    """SQLite opens a database's journal by name, so it must be a plain file."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise UnsafeFile(f"{path} is not a regular file, so the database beside it was not opened")


def _limit(database: sqlite3.Connection) -> None:
    database.text_factory = lambda data: data.decode("utf-8", "backslashreplace")
    set_limit = getattr(database, "setlimit", None)
    if set_limit is not None:  # Python 3.11 and later
        set_limit(0, _LARGEST_CELL)  # SQLITE_LIMIT_LENGTH
    database.execute("PRAGMA trusted_schema = OFF")
