"""Runs of trackio: one SQLite file per project in its folder (`TRACKIO_DIR`, or `~/.cache/huggingface/trackio`)."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepscope.errors import BadData, MissingExtra
from stepscope.files.opening import open_file, plain_size, read_window
from stepscope.importers.columns import Gathered, as_step
from stepscope.importers.foreign import ForeignRun, Piece, Source, Thing
from stepscope.importers.things import things_of
from stepscope.importers.trackio.media import things
from stepscope.importers.trackio.project import Base, Listed, Parquet, Project, Row, is_project, seconds
from stepscope.records import Alert, Severity
from stepscope.track.config import flatten, masked
from stepscope.track.media import Text
from stepscope.track.names import as_name
from stepscope.track.secrets import mask_text

__all__ = ["TrackioFolder", "find"]

_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_LEVELS: dict[str, Severity] = {"info": "info", "warn": "warning", "error": "error"}
_DEEPEST = 2
_TAIL = 1 << 20
_METERS = {"cpu/utilization": "cpu_percent", "memory/percent": "memory_percent"}


def find(path: Path) -> Source | None:
    """The trackio projects in a folder (or the one in a file), or None."""
    projects = dict(_projects(path))
    return TrackioFolder(path, projects) if projects else None


class TrackioFolder:
    """Each project's file has all of its runs; a cursor is the last row number of each table."""

    kind = "trackio"

    def __init__(self, path: Path, projects: dict[str, Project]) -> None:
        self.path = path
        self._projects = projects
        self._listed: dict[str, tuple[Project, Listed]] = {}
        self._cursors: dict[str, dict[str, Any]] = {}
        self._troubles: list[str] = []

    def runs(self) -> Iterator[ForeignRun]:
        for place, project in self._projects.items():
            try:
                listed = list(project.runs())
            except (BadData, MissingExtra) as fault:
                self._troubles.append(str(fault))
                continue
            for run in listed:
                key = f"{place}/{run.id}"
                self._listed[key] = (project, run)
                yield _foreign(key, project.name, run)

    def read(self, run: ForeignRun, cursor: Any) -> Iterator[Piece]:
        project, listed = self._listed[run.key]
        at: dict[str, Any] = dict(cursor) if isinstance(cursor, dict) else {}
        self._cursors[run.key] = at
        points = Gathered()
        places: list[tuple[float, int]] = [(0.0, at.get("step", 0))]
        try:
            for row in self._new(project, listed, "metrics", at):
                step = as_step(row.step) or 0
                places.append((row.time, step))
                at["step"] = step
                yield from self._values(project, points, row, step)
                if points.is_full:
                    yield from points.take()
            for row in self._new(project, listed, "system_metrics", at):
                step = places[bisect_right(places, (row.time, 2**63)) - 1][1]
                for name, value in row.values.items():
                    number = _NUMBERS.get(value, value) if isinstance(value, str) else value
                    if isinstance(number, (int, float)):
                        points.add(_meter(name), step, row.time, number)
            yield from points.take()
            for row in self._new(project, listed, "alerts", at):
                yield _alert(row)
        except (BadData, MissingExtra) as fault:
            self._troubles.append(str(fault))

    def _new(self, project: Project, run: Listed, table: str, at: dict[str, Any]) -> Iterator[Row]:
        for row in project.rows(table, run.id, int(at.get(table, 0))):
            at[table] = row.number
            yield row

    def _values(self, project: Project, points: Gathered, row: Row, step: int) -> Iterator[Thing]:
        """The values of one row: numbers as points, the others as media."""
        stack = [(name, value) for name, value in reversed(row.values.items())]
        while stack:
            name, value = stack.pop()
            if isinstance(value, str):
                value = _NUMBERS.get(value, value)
            if isinstance(value, (int, float)):
                points.add(name, step, row.time, value)
            elif isinstance(value, dict) and "_type" not in value:
                stack += [(f"{name}/{inner}", each) for inner, each in reversed(value.items())]
            elif isinstance(value, dict):
                try:
                    yield from things(project.media, name, value, step, row.time)
                except BadData as fault:
                    self._troubles.append(f"{project.name}: {fault}")
            elif isinstance(value, (str, list)):
                yield from things_of(Text(str(value)), name, step, row.time)

    def cursor(self, run: ForeignRun) -> Any:
        return self._cursors[run.key]

    def troubles(self) -> list[str]:
        told, self._troubles = self._troubles, []
        return told


def _foreign(key: str, project: str, run: Listed) -> ForeignRun:
    own = {name: value for name, value in run.config.items() if not name.startswith("_")}
    created = run.config.get("_Created")
    group = run.config.get("_Group")
    return ForeignRun(
        key=key,
        name=mask_text(as_name(run.name)),
        project=as_name(project),
        created=(seconds(created) if isinstance(created, str) else 0.0) or run.first,
        config=masked(flatten(own)),
        group=as_name(group) if group else None,
        more={"user": as_name(run.config.get("_Username") or "")},
    )


def _alert(row: Row) -> Alert:
    title, text = str(row.values.get("title") or ""), str(row.values.get("text") or "")
    level = _LEVELS.get(str(row.values.get("level")).lower(), "warning")
    return Alert(time=row.time, title=mask_text(title), text=mask_text(text), level=level, step=as_step(row.step))


def _meter(name: str) -> str:
    """A machine metric under Stepscope's name where it means the same."""
    head, _, rest = name.partition("/")
    if head == "gpu" and rest.partition("/")[0].isdigit():
        number, _, what = rest.partition("/")
        return f"system/gpu{number}/{'use_percent' if what == 'utilization' else what}"
    return f"system/{_METERS.get(name, name)}"


def _projects(path: Path) -> Iterator[tuple[str, Project]]:
    """The projects in a folder and below: databases, and parquet files without a database."""
    for file in _files(path):
        key = file.stem if file == path else file.relative_to(path).with_suffix("").as_posix()
        if file.suffix == ".db" and is_project(file):
            yield key, Base(file)
        elif file.suffix == ".parquet" and _is_export(file):
            yield key, Parquet(file)


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    base = len(path.parts)
    for folder, inner, names in os.walk(path):
        here = Path(folder)
        deep = len(here.parts) - base >= _DEEPEST
        inner[:] = [] if deep else sorted(name for name in inner if name != "media" and not name.startswith("."))
        paths = (here / name for name in sorted(names) if name.endswith((".db", ".parquet")))
        yield from (path for path in paths if plain_size(path) is not None)


def _is_export(file: Path) -> bool:
    if file.with_suffix(".db").is_file() or file.stem.endswith(("_system", "_configs", "_traces")):
        return False
    with open_file(file) as stream:
        start = max(0, os.fstat(stream.fileno()).st_size - _TAIL)
        return b"run_name" in read_window(stream, start, _TAIL)  # the column names are at the end of a parquet file
