"""Other tools' SQLite files, opened read-only.

A SQLite cell may contain any type, whatever its column's: read cells with `text_of` and `number_of`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from stepscope.errors import BadData
from stepscope.files.database import is_database, open_database

opened = open_database


def tables_of(path: Path) -> set[str]:
    """The names of its tables; none for a file that is not a database, or unreadable."""
    if not is_database(path):
        return set()
    try:
        with opened(path) as database:
            return {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except (OSError, BadData):
        return set()


def text_of(cell: Any, otherwise: str = "") -> str:
    """A cell as text; `otherwise` if it is empty."""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "backslashreplace")
    return str(cell) if cell is not None and cell != "" else otherwise


def number_of(cell: Any) -> float:
    """A cell as a finite number; 0 if it is not one, as for a missing time."""
    return float(cell) if isinstance(cell, (int, float)) and math.isfinite(cell) else 0.0
