"""Remove a secret from everything in a run, safely: write new files beside the old ones, verify, then replace.

Order: clean copies of blobs first, then the logs that refer to them, then the old blobs are removed. A run stays valid
if interrupted anywhere; the next scrub finishes the job. Logs keep every frame, its number and its order, so no point
is lost.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from stepscope.errors import Conflict, StorageError
from stepscope.files.opening import read_file
from stepscope.runs.format.filesystem import make_folder, sync_folder
from stepscope.runs.format.frames import Frame, scan
from stepscope.runs.format.layout import BLOBS, write_file
from stepscope.runs.format.sidecar import note_checksum_again
from stepscope.runs.read.folder import open_run
from stepscope.runs.scrub.content import Blob, Renamed, clean_any, clean_log, inline_blobs
from stepscope.runs.scrub.needle import Needle

LARGEST = 1 << 30
"""Larger files are skipped and reported."""
_LARGEST_MANIFEST = 16 << 20


@dataclass
class Scrubbed:
    """What was found, by file, and what could not be checked."""

    found: dict[str, int] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)

    @property
    def matches(self) -> int:
        return sum(self.found.values())


def scrub_run(run: Path, needle: Needle, *, dry_run: bool = False, force: bool = False) -> Scrubbed:
    """Replace the secret by `***` in every file of a run; with `dry_run` only search.

    A live run is rejected. `force` allows one whose host cannot be reached ("lost").
    """
    _refuse_if_written(run, force)
    result = Scrubbed()
    renamed, inline = _clean_blobs(run, needle, result, dry_run)
    # Media logs last: until then every record's bytes exist, as the old bytes or as a clean blob.
    for path in sorted(_files(run), key=lambda each: (".media." in each.name, each)):
        if path.parent.name == BLOBS or (data := _read(path, run, result)) is None:
            continue
        cleaned, count = clean_log(data, needle, renamed) if path.suffix == ".log" else clean_any(data, needle)
        if count:
            _note(result, path, run, count)
            if not dry_run:
                _put(path, data, cleaned)
    if not dry_run and result.found:
        for old, blob in renamed.items():
            if old != blob.sha256:
                (run / BLOBS / old).unlink(missing_ok=True)
        for name in inline:
            (run / BLOBS / name).unlink(missing_ok=True)
        _verify(run, needle)
    return result


def scrub_beside(files: Iterable[Path], needle: Needle, result: Scrubbed, *, dry_run: bool, disposable: bool) -> None:
    """Files outside the run's folder that may repeat its content: reports are cleaned, caches with a match removed."""
    for path in files:
        data = _read(path, path.parent, result)
        if data is None:
            continue
        cleaned, count = clean_any(data, needle)
        if not count:
            continue
        result.found[str(path)] = count
        if dry_run:
            continue
        if disposable:
            path.unlink(missing_ok=True)
        else:
            _put(path, data, cleaned)


def _refuse_if_written(run: Path, force: bool) -> None:
    status = open_run(run).status
    if status == "running" or (status == "lost" and not force):
        what = "is being written" if status == "running" else "may still be written: its host cannot be reached"
        hint = "stop it first" if status == "running" else "if it has ended, repeat with --force"
        raise Conflict(f"run {run.name} {what}; {hint}")


def _files(run: Path) -> list[Path]:
    return sorted(Path(folder) / name for folder, _, names in os.walk(run) for name in names)


def _read(path: Path, within: Path, result: Scrubbed) -> bytes | None:
    try:
        return read_file(path, LARGEST, within=within)
    except OSError as fault:
        result.unread[str(path)] = str(fault)
        return None


def _write_blob(run: Path, blob: Blob, content: bytes) -> bool:
    """Whether it was not there yet."""
    if (run / BLOBS / blob.sha256).exists():
        return False
    make_folder(run / BLOBS, exist_ok=True)
    sync_folder(run)  # before the logs that refer to these blobs
    write_file(run / BLOBS / blob.sha256, content)
    return True


def _clean_blobs(run: Path, needle: Needle, result: Scrubbed, dry_run: bool) -> tuple[Renamed, list[str]]:
    """Write the clean blobs beside the old ones; a blob that refers to another by its hash (a capsule) follows.

    Includes those in media logs, until these are clean.
    """
    renamed: Renamed = {}
    inline: list[str] = []
    logs = [path for path in _files(run) if path.suffix == ".log"]
    for path in logs:
        for old, content in inline_blobs(_read(path, run, result) or b"", needle):
            renamed[old] = blob = Blob.of(content)
            if not dry_run and _write_blob(run, blob, content):
                inline.append(blob.sha256)
    blobs = [path for path in _files(run) if path.parent.name == BLOBS]
    changed = {path for path in blobs if _clean_blob(path, run, needle, renamed, result, dry_run)}
    if renamed:
        for path in blobs:
            if path not in changed:
                _clean_blob(path, run, needle, renamed, result, dry_run, by_name=True)
    return renamed, inline


def _clean_blob(
    path: Path, run: Path, needle: Needle, renamed: Renamed, result: Scrubbed, dry_run: bool, by_name: bool = False
) -> bool:
    data = _read(path, run, result)
    if data is None:
        return False
    cleaned, count = (data, 0) if by_name else clean_any(data, needle)
    named = [old for old in renamed if old.encode() in cleaned] if len(cleaned) <= _LARGEST_MANIFEST else []
    for old in named:
        cleaned = cleaned.replace(old.encode(), renamed[old].sha256.encode())
    if not count and not named:
        return False
    if count:
        _note(result, path, run, count)
    renamed[path.name] = blob = Blob.of(cleaned)
    if not dry_run:
        write_file(run / BLOBS / blob.sha256, cleaned)
    return True


def _put(path: Path, before: bytes, cleaned: bytes) -> None:
    if path.suffix == ".log":
        _compare(path, before, cleaned)
    if path.stat().st_size != len(before):
        raise Conflict(f"{path} has grown since it was read: the run is being written; stop it first")
    write_file(path, cleaned)
    note_checksum_again(path, cleaned)


def _compare(path: Path, before: bytes, cleaned: bytes) -> None:
    """The new file must have the same frames in the same order before it replaces the old one."""
    old = [(piece.kind, piece.seq) for piece in scan(before) if isinstance(piece, Frame)]
    new = [(piece.kind, piece.seq) for piece in scan(cleaned) if isinstance(piece, Frame)]
    if old != new:
        raise StorageError(
            f"{path} was not changed: its clean copy would have {len(new)} frames instead of "
            f"{len(old)}; please report this"
        )


def _verify(run: Path, needle: Needle) -> None:
    sync_folder(run)
    left = scrub_run(run, needle, dry_run=True, force=True)
    if left.found:
        names = ", ".join(list(left.found)[:3])
        raise StorageError(f"{left.matches} matches are still there in {names}; run the same command again")


def _note(result: Scrubbed, path: Path, run: Path, count: int) -> None:
    result.found[path.relative_to(run).as_posix()] = count
