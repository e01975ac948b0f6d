"""Compaction: the rows of finished log files become columns, in a fraction of the bytes.

    compact/<n>.log = a sequence of sections, one per log file it replaces:
        HEADER    that file's own header; its `file_id` tells readers which file the section replaces
        CHUNK *   each series in columns, in the order it was logged
        others    events, media records, console and the last heartbeat, byte for byte, in their order
        HEADER    repeated, in case the first is damaged
        SEAL

Nothing is removed before the new file is on disk and has been read back and compared bit for bit. If interrupted, a run
is unchanged or has a section beside its source, and a reader uses one of the two. A log file that is damaged, still
open or would not shrink is left alone. See docs/design/001-the-run-folder.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from stepscope.common import clocks
from stepscope.errors import BadData
from stepscope.files.opening import read_file
from stepscope.runs.catalogue.change_detection import is_sealed
from stepscope.runs.compact.source import Points, Source, read_sections, read_source
from stepscope.runs.format.chunks import CHUNK_POINTS, encode_chunk
from stepscope.runs.format.filesystem import create_file, make_folder, sync_folder
from stepscope.runs.format.frames import Kind, encode
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import COMPACT, log_files
from stepscope.runs.format.meta import repair_meta

_FILE_BYTES = 64 << 20
"""Approximate source bytes per compacted file, so that verifying it needs little memory."""

LARGEST_COMPACTED = 1 << 30
"""Maximum size of a compacted file: a batch ends with the source that exceeds `_FILE_BYTES`, and shrinks."""

_ABANDONED_S = 3600.0
"""A half-written file older than this belongs to no running compaction."""


@dataclass
class CompactResult:
    """The result of compacting one run."""

    run: Path
    files: int = 0
    """Log files that were replaced."""
    points: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    """Log files that were kept, and why."""


def compact(run: Path, *, gone: bool = False, first: int = 0) -> CompactResult:
    """Replace the finished log files of a run by compacted ones. Safe at any time, even concurrently.

    `gone` means that no process writes to the run any more (its status is killed): files without a seal then also count
    as finished. A read-only folder is left alone. `first` is the lowest number for a compacted file: a server's numbers
    must not collide with those a client has yet to send.
    """
    result = CompactResult(run)
    if not os.access(run, os.W_OK | os.X_OK):
        result.skipped[run.name] = "the folder is read-only"
        return result
    try:
        repair_meta(run)
        done = _remove_leftovers(run)
        for batch in _batches(run, done, gone, result):
            _replace(run, batch, result, first)
    except OSError as fault:  # a full disk or a deleted folder: what is there is kept
        result.skipped[run.name] = str(fault)
    return result


def covered_files(run: Path) -> dict[str, Path]:
    """The `file_id` of every log file replaced by a valid section of a compacted file, and its location."""
    covered: dict[str, Path] = {}
    for path in log_files(run / COMPACT):
        try:
            for section in read_sections(read_file(path, LARGEST_COMPACTED, within=run)):
                covered[section.header.file_id] = path
        except (BadData, OSError):
            continue  # sections before the damage are valid
    return covered


def _remove_leftovers(run: Path) -> set[Path]:
    """After an interruption: finish removing replaced sources and half-written files."""
    for unfinished in (run / COMPACT).glob(".*.tmp"):
        if clocks.time() - unfinished.stat().st_mtime > _ABANDONED_S:
            unfinished.unlink(missing_ok=True)
    done: set[Path] = set()
    covered = covered_files(run)
    if covered:
        for path in log_files(run):
            if path.name.endswith(".log") and _same_section(path, covered):
                path.unlink(missing_ok=True)
                done.add(path)
        sync_folder(run)
    return done


def _same_section(path: Path, covered: dict[str, Path]) -> bool:
    try:
        source = read_source(path)
        where = covered.get(source.header.file_id)
        if where is None:
            return False
        sections = read_sections(read_file(where, LARGEST_COMPACTED, within=path.parent))
        return any(section.is_same(source) for section in sections)
    except (BadData, OSError):
        return False


def _batches(run: Path, done: set[Path], gone: bool, result: CompactResult) -> Iterator[list[Path]]:
    """The log files worth compacting, in groups of bounded size."""
    batch: list[Path] = []
    size = 0
    for path in log_files(run):
        if path in done:
            continue
        if not gone and not is_sealed(path):
            result.skipped[path.name] = "it is still open"
            continue
        batch.append(path)
        size += path.lstat().st_size
        if size >= _FILE_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _replace(run: Path, paths: list[Path], result: CompactResult, first: int) -> None:
    """Write one compacted file, verify it, move it into place, and only then remove its sources."""
    step = CompactResult(run, skipped=result.skipped)
    smaller = _smaller(paths, step)
    begin = next(smaller, None)
    if begin is None:
        return  # without a trace: what watches the folder for changes would have the run compacted again
    folder = run / COMPACT
    temporary = folder / f".{new_run_id()}.tmp"
    make_folder(folder, exist_ok=True)
    sync_folder(run)  # otherwise a power loss could keep the removals below and lose the folder with their replacement
    try:
        replaced = _write(temporary, chain([begin], smaller))
        _verify(temporary, replaced)
        put_in_place(temporary, folder, first)
    except BadData as fault:
        result.skipped[run.name] = str(fault)
        return
    finally:
        temporary.unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()
    for path in replaced:
        path.unlink(missing_ok=True)
    sync_folder(run)
    result.files += step.files
    result.points += step.points
    result.bytes_before += step.bytes_before
    result.bytes_after += step.bytes_after


def _smaller(paths: list[Path], step: CompactResult) -> Iterator[tuple[Path, list[bytes]]]:
    """The log files that shrink, each with the frames of its section."""
    seq = 0
    for path in paths:
        try:
            source = read_source(path)
        except BadData as fault:
            step.skipped[path.name] = str(fault)
            continue
        frames = [encode(kind, seq + at, payload) for at, (kind, payload) in enumerate(section_frames(source))]
        before, after = path.stat().st_size, sum(map(len, frames))
        if after >= before:
            step.skipped[path.name] = "it would not get smaller"
            continue
        seq += len(frames)
        step.files += 1
        step.points += source.points
        step.bytes_before += before
        step.bytes_after += after
        yield path, frames


def _write(temporary: Path, sections: Iterable[tuple[Path, list[bytes]]]) -> list[Path]:
    written = []
    with os.fdopen(create_file(temporary), "wb") as out:
        for path, frames in sections:
            out.write(b"".join(frames))
            written.append(path)
        out.flush()
        os.fsync(out.fileno())
    return written


def section_frames(
    source: Source, chunks: Callable[[Source, str, Points], Iterator[bytes]] | None = None
) -> Iterator[tuple[int, bytes]]:
    """The frames of one section: kind and payload. `chunks` yields those of a series; all its points by default."""
    yield Kind.HEADER, source.header_frame
    identity = [other for other in source.others[:1] if other[0] == Kind.META]
    yield from identity  # at the beginning, where readers look for it
    for name, points in source.series.items():
        for payload in (chunks or whole_chunks)(source, name, points):
            yield Kind.CHUNK, payload
    yield from source.others[len(identity) :]
    yield Kind.HEADER, source.header_frame
    yield Kind.SEAL, b""


def whole_chunks(source: Source, name: str, points: Points) -> Iterator[bytes]:
    """All points of a series."""
    header = source.header
    for start in range(0, len(points.values), CHUNK_POINTS):
        part = slice(start, start + CHUNK_POINTS)
        yield encode_chunk(
            name,
            points.steps[part],
            points.times[part],
            points.values[part],
            attempt=header.attempt,
            rank=header.rank,
            role=header.role,
            base_time=header.base_time,
            exact={at - start: n for at, n in points.exact.items() if start <= at < start + CHUNK_POINTS},
        )


def _verify(temporary: Path, paths: list[Path]) -> None:
    """Read both sides from disk and compare everything."""
    sections = read_sections(read_file(temporary, LARGEST_COMPACTED, within=temporary.parent))
    for path in paths:
        section = next(sections, None)
        if section is None or not section.is_same(read_source(path)):
            raise BadData(f"{path.name} differed after compaction; it was left unchanged")


def put_in_place(temporary: Path, folder: Path, first: int) -> Path:
    """Give the file the next free number. The name is claimed first, so that two compactions never share one."""
    taken = [int(path.stem) for path in log_files(folder) if path.stem.isdigit()]
    number = max([first - 1, *taken]) + 1
    while True:
        path = folder / f"{number:06d}.log"
        try:
            os.close(create_file(path))
            break
        except FileExistsError:
            number += 1
    os.replace(temporary, path)
    sync_folder(folder)
    return path
