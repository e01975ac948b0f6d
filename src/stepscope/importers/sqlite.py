"""Other tools' SQLite files, opened so that nothing can be written to them.

A cell of SQLite may hold any kind of value, whatever its column says: read cells by `text_of` and `number_of`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from stepscope.errors import BadData
from stepscope.files.database import is_database, open_database

__all__ = ["number_of", "opened", "tables_of", "text_of"]

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


def text_of(cell: Any, otherwise: str = "") -> str:
    """A cell as text; `otherwise` where it is empty."""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "backslashreplace")
    return str(cell) if cell is not None and cell != "" else otherwise


def number_of(cell: Any) -> float:
    """A cell as a finite number; 0 where it is none, as for a time that nobody wrote."""
    return float(cell) if isinstance(cell, (int, float)) and math.isfinite(cell) else 0.0
