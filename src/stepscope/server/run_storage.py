"""What each run takes on the server, by kind: measured when a run has changed, added to while it arrives."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from stepscope.database.engine import Database
from stepscope.database.tables import run_storage as table
from stepscope.files.listing import plain_files
from stepscope.records import Artifact
from stepscope.runs.format.layout import BLOBS, COMPACT

KINDS = ("points", "media", "artifacts", "other")
_BLOCK = 512


@dataclass
class Sizes:
    points: int = 0
    media: int = 0
    artifacts: int = 0
    other: int = 0
    on_disk: int = 0
    """What of it takes room on the server's own disk; the rest is in the object store."""

    @property
    def bytes(self) -> int:
        return self.points + self.media + self.artifacts + self.other


def measure(run: Path, artifacts: Iterable[Artifact] = ()) -> Sizes:
    """The files of a run. Of blobs, `artifacts` says which are theirs; all others are media."""
    theirs = {file.sha256 for one in artifacts for file in one.files}
    found = Sizes()
    for path in plain_files(run):
        try:
            stat = path.lstat()
        except OSError:  # gone meanwhile
            continue
        kind = _kind(path.relative_to(run), theirs)
        setattr(found, kind, getattr(found, kind) + stat.st_size)
        found.on_disk += min(getattr(stat, "st_blocks", stat.st_size // _BLOCK + 1) * _BLOCK, stat.st_size)
    return found


def _kind(path: Path, artifacts: set[str]) -> str:
    if path.parts[0] == BLOBS:
        return "artifacts" if path.name in artifacts else "media"
    if path.suffix == ".log" and ".media." in path.name:
        return "media"
    if path.suffix == ".log" and path.parts[0] in (COMPACT, path.name):
        return "points"
    return "other"


def save(database: Database, run: str, project: str, name: str, sizes: Sizes, *, stamp: str, due: float | None) -> None:
    """Note what a run takes. Who sent it stays known."""
    values = {
        "project": project,
        "name": name,
        **{kind: getattr(sizes, kind) for kind in KINDS},
        "on_disk": sizes.on_disk,
        "incoming": 0,
        "trashed": False,
        "stamp": stamp,
        "due": due,
    }
    with database.writing() as connection:
        if not connection.execute(table.update().where(table.c.run == run).values(values)).rowcount:
            connection.execute(table.insert().values(run=run, user_name="", **values))


def add_incoming(database: Database, arrived: Iterable[tuple[str, str, str, int]]) -> None:
    """Bytes that came in, each with the run, its project and the name of who sent them."""
    with database.writing() as connection:
        for run, project, user, size in arrived:
            more = {"incoming": table.c.incoming + size}
            owner = sql.case((table.c.user_name == "", user), else_=table.c.user_name)
            known = table.update().where(table.c.run == run).values(**more, user_name=owner)
            if not connection.execute(known).rowcount:
                empty = dict.fromkeys((*KINDS, "on_disk"), 0)
                row = {"run": run, "project": project, "user_name": user, "name": "", "incoming": size, **empty}
                connection.execute(table.insert().values(**row, trashed=False, stamp="", due=None))


def mark_trashed(database: Database, trashed: set[str]) -> None:
    """Note which runs are in the trash now, and which have come back."""
    with database.writing() as connection:
        known = set(connection.scalars(sql.select(table.c.run).where(table.c.trashed)))
        for runs, value in ((trashed - known, True), (known - trashed, False)):
            for run in runs:
                connection.execute(table.update().where(table.c.run == run).values(trashed=value))


def forget_runs(database: Database, runs: Iterable[str]) -> None:
    """Runs that were removed permanently take nothing."""
    with database.writing() as connection:
        for run in runs:
            connection.execute(table.delete().where(table.c.run == run))


_ALL = table.c.points + table.c.media + table.c.artifacts + table.c.other + table.c.incoming


@dataclass(frozen=True)
class ProjectUse:
    project: str
    runs: int
    points: int
    media: int
    artifacts: int
    other: int
    incoming: int
    trash: int
    """Of deleted runs, which the other numbers do not count."""
    on_disk: int


def by_project(database: Database) -> list[ProjectUse]:
    """What fills the server, the largest first."""
    here = [sql.func.sum(sql.case((table.c.trashed, 0), else_=table.c[kind])) for kind in (*KINDS, "incoming")]
    count = sql.func.sum(sql.case((table.c.trashed, 0), else_=1))
    trash = sql.func.sum(sql.case((table.c.trashed, _ALL), else_=0))
    find = sql.select(table.c.project, count, *here, trash, sql.func.sum(table.c.on_disk)).group_by(table.c.project)
    with database.reading() as connection:
        found = [ProjectUse(row[0], *map(int, row[1:])) for row in connection.execute(find)]
    return sorted(found, key=lambda use: -(use.points + use.media + use.artifacts + use.other + use.trash))


def used_by(database: Database, column: str) -> dict[str, tuple[int, int]]:
    """Runs and bytes by "project" or "user_name", with what is in the trash."""
    by = table.c[column]
    find = sql.select(by, sql.func.count(), sql.func.sum(_ALL)).group_by(by)
    with database.reading() as connection:
        return {name: (int(runs), int(size)) for name, runs, size in connection.execute(find)}


def largest_runs(
    database: Database, projects: Iterable[str] | None, kind: str | None = None, most: int = 50
) -> list[sql.Row[Any]]:
    """The runs that take the most, of one kind or in all: run, name, project, user, sizes by kind, trashed."""
    size = _ALL if kind is None else table.c[kind]
    columns = (table.c.run, table.c.name, table.c.project, table.c.user_name, *(table.c[one] for one in KINDS))
    find = sql.select(*columns, table.c.incoming, table.c.trashed).order_by(size.desc(), table.c.run).limit(most)
    if projects is not None:
        find = find.where(table.c.project.in_(list(projects)))
    with database.reading() as connection:
        return list(connection.execute(find))


def stamps(database: Database) -> dict[str, tuple[str, float | None]]:
    """When each run was last seen to (as its folder was), and when it is due again."""
    with database.reading() as connection:
        return {
            run: (stamp, due)
            for run, stamp, due in connection.execute(sql.select(table.c.run, table.c.stamp, table.c.due))
        }


def touched(run: Path) -> int:
    """When a file was last added to a run or one of its folders."""
    times = []
    try:
        for path in (run, *(inner for inner in run.iterdir() if inner.is_dir())):
            times.append(os.stat(path).st_mtime_ns)
    except OSError:  # deleted meanwhile
        return 0
    return max(times)
