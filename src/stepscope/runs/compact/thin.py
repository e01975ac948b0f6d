"""Thinning: reduce an old, long series to the ends, extremes and means of a thousand intervals.

    thin(run)        # rewrites compacted files; other files are unchanged

Every remaining point was logged. Each chunk keeps the summary of all its points, so last, min, max, mean and counts
stay exact and a zoomed-out chart looks the same. Nothing is removed before the new file has been read back. Runs with
several attempts are left alone: which points count there depends on the points themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.errors import BadData
from stepscope.files.opening import read_file
from stepscope.runs.compact.compact import LARGEST_COMPACTED, put_in_place, section_frames, whole_chunks
from stepscope.runs.compact.source import Points, Source, read_sections
from stepscope.runs.format.chunks import Block, encode_thinned
from stepscope.runs.format.filesystem import create_file, sync_folder
from stepscope.runs.format.frames import encode
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import COMPACT, log_files

FIRST = 700_000
"""Thinned files are numbered from here, so that readers know that points are missing on purpose."""
SHORT = 4000
"""A series with at most this many points in a section is not thinned."""
STRETCHES = 1000
_PER_CHUNK = 250


@dataclass
class ThinResult:
    """The result of thinning one run."""

    points: int = 0
    """Number of points removed."""
    bytes_before: int = 0
    bytes_after: int = 0
    replaced: dict[str, int] = field(default_factory=dict)
    """Compacted files that were removed, by name within the run, with their sizes."""
    skipped: str = ""
    """Why nothing was done."""


def is_thinned(run: Path) -> bool:
    """Whether points of a run were removed."""
    return any(_is_thin_file(path) for path in log_files(run / COMPACT))


def would_thin(run: Path) -> ThinResult:
    """What `thin` would do, without doing it; `bytes_after` is estimated from the number of points."""
    found = ThinResult()
    try:
        for path, sections in _worth_it(run):
            size = path.lstat().st_size
            logged = sum(section.points for section in sections)
            gone = sum(len(section.series[name].values) - len(plan.kept) for section, name, plan in _plans(sections))
            found.points += gone
            found.bytes_before += size
            found.bytes_after += round(size * (logged - gone) / logged)
    except (BadData, OSError) as fault:
        return ThinResult(skipped=str(fault))
    return found


def thin(run: Path) -> ThinResult:
    """Thin the long series of a run's compacted files. Safe to interrupt and repeat."""
    result = ThinResult()
    folder = run / COMPACT
    try:
        _remove_leftovers(run)
        for path, sections in _worth_it(run):
            plans = {(section.header.file_id, name): plan for section, name, plan in _plans(sections)}
            temporary = folder / f".{new_run_id()}.tmp"
            try:
                _write(temporary, sections, plans)
                _check(temporary, sections, plans)
                if temporary.lstat().st_size >= path.lstat().st_size:
                    continue  # nothing to gain
                new = put_in_place(temporary, folder, FIRST)
            finally:
                temporary.unlink(missing_ok=True)
            size = path.lstat().st_size
            path.unlink()
            result.replaced[path.relative_to(run).as_posix()] = size
            result.points += sum(plan.logged - len(plan.kept) for plan in plans.values())
            result.bytes_before += size
            result.bytes_after += new.lstat().st_size
        if result.replaced:
            sync_folder(folder)
            os.utime(run)  # catalogs detect changes of ended runs by the folder's time
    except (BadData, OSError) as fault:
        result.skipped = str(fault)
    return result


def _remove_leftovers(run: Path) -> None:
    """Clean up after an interruption between a new file and the removal of the one it replaces."""
    thinned = {
        one.header.file_id for path in log_files(run / COMPACT) if _is_thin_file(path) for one in _sections(run, path)
    }
    for path in log_files(run / COMPACT) if thinned else ():
        if not _is_thin_file(path) and {one.header.file_id for one in _sections(run, path)} <= thinned:
            path.unlink()


def _worth_it(run: Path) -> Iterator[tuple[Path, list[Source]]]:
    """Compacted files with a series that can be thinned, and their sections."""
    read = [(path, _sections(run, path)) for path in log_files(run / COMPACT) if not _is_thin_file(path)]
    attempts = {one.header.attempt for _, sections in read for one in sections if one.header.role == "run"}
    if len(attempts) > 1:
        raise BadData("it has several attempts")
    for path, sections in read:
        if any(True for _ in _plans(sections)):
            yield path, sections


def _is_thin_file(path: Path) -> bool:
    return path.stem.isdigit() and int(path.stem) >= FIRST


def _sections(run: Path, path: Path) -> list[Source]:
    return list(read_sections(read_file(path, LARGEST_COMPACTED, within=run)))


def _is_long(points: Points) -> bool:
    return len(points.values) > SHORT and bool((points.steps[1:] >= points.steps[:-1]).all())


class _Plan(NamedTuple):
    """The points of a series that are kept: positions in order, and their blocks."""

    kept: npt.NDArray[np.int64]
    blocks: list[Block]
    edges: list[int]
    """Where each block begins, and the end of the last one."""

    @property
    def logged(self) -> int:
        return self.edges[-1]


def _plans(sections: list[Source]) -> Iterator[tuple[Source, str, _Plan]]:
    for section in sections:
        if section.header.role == "node":  # the columns of a cell belong together
            continue
        for name, points in section.series.items():
            if _is_long(points):
                yield section, name, _plan(points.values)


def _plan(values: npt.NDArray[np.float64]) -> _Plan:
    edges = [len(values) * at // STRETCHES for at in range(STRETCHES + 1)]
    kept: list[int] = []
    blocks: list[Block] = []
    for start, end in pairwise(edges):
        part = values[start:end]
        finite = np.isfinite(part)
        chosen = {0, len(part) - 1}
        if finite.any():
            chosen.add(int(np.where(finite, part, np.inf).argmin()))
            chosen.add(int(np.where(finite, part, -np.inf).argmax()))
        for odd in (np.isnan(part), part == np.inf, part == -np.inf):
            if odd.any():
                chosen.add(int(odd.argmax()))
        kept += [start + at for at in sorted(chosen)]
        blocks.append(Block(len(chosen), int(finite.sum()), _mean(part[finite])))
    return _Plan(np.array(kept, dtype=np.int64), blocks, edges)


def _mean(values: npt.NDArray[np.float64]) -> float:
    if not len(values):
        return 0.0  # represents no finite point
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values.mean())
    return mean if np.isfinite(mean) else float((values / len(values)).sum())


_Plans = dict[tuple[str, str], _Plan]
"""By the section's `file_id` and the name of the series."""


def _write(temporary: Path, sections: list[Source], plans: _Plans) -> None:
    def chunks(section: Source, name: str, points: Points) -> Iterator[bytes]:
        plan = plans.get((section.header.file_id, name))
        return whole_chunks(section, name, points) if plan is None else _thinned(section, name, points, plan)

    seq = 0
    with os.fdopen(create_file(temporary), "wb") as out:
        for section in sections:
            for kind, payload in section_frames(section, chunks):
                out.write(encode(kind, seq, payload))
                seq += 1
        out.flush()
        os.fsync(out.fileno())


def _thinned(section: Source, name: str, points: Points, plan: _Plan) -> Iterator[bytes]:
    header = section.header
    place = 0
    for first in range(0, STRETCHES, _PER_CHUNK):
        some = plan.blocks[first : first + _PER_CHUNK]
        part = slice(plan.edges[first], plan.edges[first + len(some)])
        mine = plan.kept[place : place + sum(block.kept for block in some)]
        place += len(mine)
        yield encode_thinned(
            name,
            (points.steps[part], points.times[part], points.values[part]),
            mine - part.start,
            some,
            attempt=header.attempt,
            rank=header.rank,
            role=header.role,
            base_time=header.base_time,
            exact=_taken(points, mine).exact,
        )


def _check(temporary: Path, sections: list[Source], plans: _Plans) -> None:
    """Read the new file back: everything but the points must be equal, and so must the kept points."""
    new = _sections(temporary.parent, temporary)
    if len(new) != len(sections):
        raise BadData("the thinned file could not be read back; nothing was removed")
    for was, now in zip(sections, new, strict=True):
        expected = {
            name: _taken(points, plans[was.header.file_id, name].kept)
            if (was.header.file_id, name) in plans
            else points
            for name, points in was.series.items()
        }
        if not replace(was, series=expected).is_same(now):
            raise BadData("the thinned file differed when read back; nothing was removed")


def _taken(points: Points, kept: npt.NDArray[np.int64]) -> Points:
    exact = {at: points.exact[position] for at, position in enumerate(kept.tolist()) if position in points.exact}
    return Points(points.steps[kept], points.times[kept], points.values[kept], exact)
