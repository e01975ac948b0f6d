"""What client and server say to each other, and the names and sizes both of them accept."""

from __future__ import annotations

import re

import msgspec

from stepscope.errors import UsageError
from stepscope.runs.format.frames import HEADER, MAX_PAYLOAD

TYPE = "application/vnd.stepscope.piece"
"""The body of a piece: bytes of one file, deflated."""
CHECKSUM = "x-stepscope-sha256"
"""The SHA-256 of a piece before it was deflated: nothing that was changed on its way is kept."""
BEFORE = "x-stepscope-before"
"""The CRC-32 of all bytes of a log in front of a piece that the server sends."""
WHOLE = "x-stepscope-whole"
"""The SHA-256 and the size of a whole file that the server sends a piece of."""
PIECE = 2 << 20
LARGEST_PIECE = MAX_PAYLOAD + HEADER.size
"""A piece holds whole frames, so it is at least as long as the longest."""
_PART = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,200}")
_MOST_PARTS = 4


class Held(msgspec.Struct, frozen=True):
    """What the server holds of a run: the acknowledged bytes of each file."""

    files: dict[str, int]
    compacted: dict[str, int] = {}
    """Logs that are there only as a part of a compacted file, and how long they were."""
    deleted: float | None = None
    """When the run was deleted there, in unix seconds."""
    removed: dict[str, int] = {}
    """Files that were there and that the server's retention settings have removed, and how large they were."""


class RunList(msgspec.Struct, frozen=True):
    """The runs of a server, oldest first."""

    runs: list[str]
    deleted: dict[str, float] = {}
    """Runs that were deleted, and when."""
    changed: list[int] = []
    """When a file was last added to or removed from each of `runs`, in ns; empty where there are very many."""


class Fate(msgspec.Struct, frozen=True):
    """What somebody did to a run as a whole, and when, in unix seconds: the later one counts."""

    deleted: float | None = None
    restored: float | None = None


class Stored(msgspec.Struct, frozen=True):
    """The answer to a piece: up to where the file is safe on the server's disk."""

    size: int
    gap: bool = False
    """The piece began after that, so nothing of it was kept: send again from `size`."""


def check_name(name: str) -> str:
    """The name of a file in a run folder; refused if it could lead anywhere else, or is one that we do not make."""
    parts = name.split("/")
    if not 0 < len(parts) <= _MOST_PARTS or not all(_PART.fullmatch(part) for part in parts):
        raise UsageError(f"{name[:200]!r} is not the name of a file in a run folder; expected e.g. blobs/0a1b...")
    return name


def is_log(name: str) -> bool:
    """Whether a file grows by whole frames; all others appear whole."""
    return name.endswith(".log") and "/" not in name


def file_id(name: str) -> str:
    """What the header of a log calls it, from its name: `<log>.<kind>.<segment>`."""
    parts = name.split(".")
    return f"{parts[-4]}.{parts[-3]}.{int(parts[-2])}" if len(parts) > 4 and parts[-2].isdecimal() else ""
