"""TensorBoard folders: one run per folder with event files. docs/integrations/tensorboard.md has the rules."""

from __future__ import annotations

import os
from pathlib import Path

from stepscope.importers.foreign import Source
from stepscope.importers.tensorboard.folders import has_event_files
from stepscope.importers.tensorboard.source import TensorBoardSource

__all__ = ["TensorBoardSource", "find", "named_folders"]


def find(path: Path) -> Source | None:
    """The runs at `path` (a folder, or one event file), if there are any."""
    return TensorBoardSource(path) if has_event_files(path) else None


def named_folders(text: str) -> list[tuple[str, Path]] | None:
    """TensorBoard's old syntax for several folders, `name:path,name:path`; None for other text.

    >>> named_folders("base:/logs/a,wide:/logs/b")
    [('base', PosixPath('/logs/a')), ('wide', PosixPath('/logs/b'))]
    >>> named_folders("logs") is None
    True
    """
    if Path(text).exists() or (":" not in text and "," not in text):
        return None
    found = []
    for part in text.split(","):
        name, colon, place = part.partition(":")
        if not colon or (os.name == "nt" and len(name) == 1):  # a drive letter
            name, place = "", part
        found.append((name.strip(), Path(place.strip())))
    return found if any(name for name, _ in found) or all(place.exists() for _, place in found) else None
