"""Other tools' SQLite files, opened so that nothing can be written to them."""

from __future__ import annotations

from pathlib import Path

from stepscope.errors import BadData
from stepscope.files.database import is_database, open_database

__all__ = ["opened", "tables_of"]

opened = open_database


def tables_of(path: Path) -> set[str]:
    """The names of its tables; none for a file that is no database, or cannot be read."""
    if not is_database(path):
        return set()
    try:
        with opened(path) as database:
            return {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except (OSError, BadData):
        return set()
