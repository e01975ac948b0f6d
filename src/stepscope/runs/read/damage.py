"""The condition of a run's files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stepscope.runs.format.frames import Hole
from stepscope.runs.read.runlogs import RunLogs


@dataclass(frozen=True)
class Damage:
    """Damage counts, all zero for an intact run."""

    places: tuple[tuple[Path, Hole], ...] = ()
    """The damaged ranges, by file."""
    missing_frames: int = 0
    """Frames that are missing according to the sequence numbers."""
    torn_bytes: int = 0
    """Bytes at the ends of files that are not a frame: a partial write when the process was killed."""
    nameless_rows: int = 0
    """Rows whose names were in a damaged frame."""
    unreadable_frames: int = 0
    unknown_frames: int = 0
    """Frames that need a newer Stepscope."""
    errors: tuple[str, ...] = ()
    """Files that cannot be opened or read, and why."""

    @property
    def holes(self) -> int:
        return len(self.places)

    def __bool__(self) -> bool:
        return bool(self.places or self.missing_frames or self.nameless_rows or self.unreadable_frames or self.errors)


def damage_of(logs: RunLogs, meta_problem: str = "") -> Damage:
    """The damage in all files that are in use (not those replaced by a compacted file)."""
    readers = logs.readers.items()
    used = [(path, reader) for path, reader in readers if path.exists() or reader.error is None]
    errors = [
        f"{path.name}: {reader.error}"
        for path, reader in used
        if reader.error is not None and not isinstance(reader.error, FileNotFoundError)
    ]
    if meta_problem:
        errors.insert(0, meta_problem)
    return Damage(
        places=tuple((path, hole) for path, reader in used for hole in reader.holes),
        missing_frames=sum(reader.missing for _, reader in used),
        torn_bytes=sum(reader.tail for _, reader in used),
        nameless_rows=sum(reader.held_rows for _, reader in used),
        unreadable_frames=sum(reader.unreadable for _, reader in used),
        unknown_frames=sum(reader.unknown for _, reader in used),
        errors=tuple(errors),
    )
