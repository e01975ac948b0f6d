"""A file's type from its first bytes, and all of its bytes if it is small enough."""

from __future__ import annotations

import os
from pathlib import Path

from stepscope.errors import UsageError
from stepscope.files import opening as files
from stepscope.runs.format.image_head import image_size, mime_of

__all__ = ["image_size", "mime_of", "read_file"]


def read_file(path: str | os.PathLike[str], what: str, max_bytes: int) -> bytes:
    """All bytes of a plain file of bounded size, read now, so that later changes to it do not matter."""
    path = Path(path)
    try:
        if not path.is_file():
            kind = "a folder" if path.is_dir() else "missing" if not path.exists() else "not a plain file"
            raise UsageError(f"{what} '{path}' is {kind}; give the path of a file")
        size = path.stat().st_size
        if size > max_bytes:
            raise UsageError(
                f"{what} '{path}' has {size:,} bytes, more than the {max_bytes:,} that log() keeps in memory; "
                "use run.log_artifact(path), which copies it on disk"
            )
        return files.read_file(path, max_bytes)
    except (OSError, ValueError) as fault:
        raise UsageError(f"{what} '{path}' cannot be read: {fault}; check the path and its permissions") from None
