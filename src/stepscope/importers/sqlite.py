"""Other tools' SQLite files, opened so that nothing can be written to them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from stepscope.errors import BadData

__all__ = ["opened", "tables_of"]

_MAGIC = b"SQLite format 3\0"
_BUSY_S = 10.0


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The database, read only; `BadData` for what goes wrong while it is read."""
    try:
        address = f"file:{quote(str(path.absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_BUSY_S, check_same_thread=False)) as database:
            database.text_factory = lambda data: data.decode("utf-8", "backslashreplace")
            yield database
    except sqlite3.Error as fault:
        raise BadData(f"{path} cannot be read as a SQLite database: {fault}") from None


def tables_of(path: Path) -> set[str]:
    """The names of its tables; none for a file that is no database, or cannot be read."""
    try:
        with path.open("rb") as stream:
            if stream.read(len(_MAGIC)) != _MAGIC:
                return set()
        with opened(path) as database:
            return {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except (OSError, BadData):
        return set()
