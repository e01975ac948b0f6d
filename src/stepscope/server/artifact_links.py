"""Which runs have to do with an artifact, in the database: so lineage and lookups read these runs, and not all of them.

A run is read once after it has changed, by whichever process comes first; what is here can be thrown away.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import sqlalchemy as sql
from sqlalchemy.exc import IntegrityError

from stepscope.database.engine import Database
from stepscope.database.tables import artifact_links as table, linked_runs, runs
from stepscope.errors import NotFound
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.server.run_rows import sound
from stepscope.views.files.artifact_index import read_until

if TYPE_CHECKING:
    from stepscope.runs.catalogue.catalogue import Catalogue

MOST_RUNS = 2_000
_AT_ONCE = 500
_OUT_OF_ORDER = 1000
"""So many of the newest rows are looked at again: another process may finish writing an earlier one later."""

Node = tuple[str, str]
"""The name and digest of an artifact."""


class ArtifactLinks:
    """Safe to use from several threads and processes."""

    def __init__(self, database: Database, catalogue: Catalogue) -> None:
        """`catalogue` has the runs of everybody."""
        self._database, self._catalogue = database, catalogue
        self._lock = threading.Lock()
        self._seen: dict[str, str] | None = None
        self._live: dict[str, int] = {}
        """Versions of running runs, as this process noted them."""
        self._upto = 0
        """All rows of the catalogue in PostgreSQL have been noted up to this one."""

    def note(self, deadline: float) -> int:
        """Read the runs that have changed since they were last noted; how many are left when the time is up."""
        with self._lock:
            waiting, upto = self._waiting()
            left, rows = 0, []
            for entry, found in read_until(waiting, deadline):
                if found is None:
                    left += 1
                    continue
                nodes = {(one.name, one.digest) for one in found.logged}
                nodes |= {(one.name, one.digest) for one in found.used}
                rows.append((entry, nodes))
                if len(rows) >= _AT_ONCE:
                    self._save(rows)
                    rows = []
            self._save(rows)
            if left == 0:
                self._upto = max(self._upto, upto - _OUT_OF_ORDER)
            return left

    def _waiting(self) -> tuple[list[RunEntry], int]:
        """The runs to read, and up to which row of the catalogue they are all that wait."""
        running = [entry for entry in self._catalogue.running() if self._live.get(entry.id) != entry.version]
        if not self._database.is_postgresql:
            seen = self._stamps()
            ended = [entry for entry in self._catalogue.each() if entry.status != "running"]
            return [*running, *(one for one in ended if seen.get(one.id) != self._catalogue.stamp_of(one))], 0
        newest = sql.select(sql.func.max(runs.c.key))
        changed = sql.or_(linked_runs.c.run.is_(None), linked_runs.c.stamp != runs.c.stamp)
        asked = (
            sql.select(runs.c.id)
            .outerjoin(linked_runs, linked_runs.c.run == runs.c.id)
            .where(runs.c.key > self._upto, changed)
            .where(runs.c.store.in_([os.path.realpath(store) for store in self._catalogue.stores]))
            .order_by(runs.c.key.desc())
        )
        with self._database.reading() as connection:
            upto = connection.execute(newest).scalar() or 0
            ids = connection.execute(asked).scalars().all()
        return [*running, *(entry for run in ids if (entry := self._entry(run)) is not None)], upto

    def _entry(self, run: str) -> RunEntry | None:
        try:
            return self._catalogue.entry(run)
        except NotFound:  # deleted meanwhile
            return None

    def around(self, run: str, may_see: Callable[[str], bool]) -> list[str]:
        """The runs connected with a run through artifacts, the nearest first, itself included."""
        found, reached, nodes = {run: None}, [run], set[Node]()
        with self._database.reading() as connection:
            while reached and len(found) < MOST_RUNS:
                fresh = self._nodes_of(connection, reached) - nodes
                nodes |= fresh
                reached = [one for one in self._runs_with(connection, fresh) if one not in found and may_see(one)]
                found.update(dict.fromkeys(reached))
        return list(found)

    def with_name(self, project: str, name: str) -> set[str]:
        """The runs of a project that logged or used an artifact of this name."""
        asked = sql.select(table.c.run).where(table.c.project == sound(project), table.c.name == sound(name))
        with self._database.reading() as connection:
            return set(connection.execute(asked).scalars())

    def _stamps(self) -> dict[str, str]:
        if self._seen is None:
            with self._database.reading() as connection:
                rows = connection.execute(sql.select(linked_runs.c.run, linked_runs.c.stamp))
                self._seen = {row.run: row.stamp for row in rows}
        return self._seen

    def _save(self, noted: list[tuple[RunEntry, set[Node]]]) -> None:
        if not noted:
            return
        stamps = {entry.id: self._stamp_of(entry) for entry, _ in noted}
        rows = [
            {"run": entry.id, "name": sound(name), "digest": sound(digest), "project": sound(entry.project)}
            for entry, nodes in noted
            for name, digest in sorted(nodes)
        ]
        for _ in range(3):  # another process may be noting the same runs
            try:
                with self._database.writing() as connection:
                    connection.execute(linked_runs.delete().where(linked_runs.c.run.in_(stamps)))
                    values = [{"run": run, "stamp": stamp} for run, stamp in stamps.items()]
                    connection.execute(linked_runs.insert(), values)
                    if rows:
                        connection.execute(table.insert(), rows)
            except IntegrityError:
                continue
            if self._seen is not None:
                self._seen.update(stamps)
            self._live = {run: version for run, version in self._live.items() if run not in stamps}
            self._live.update((entry.id, entry.version) for entry, _ in noted if entry.status == "running")
            return

    def _stamp_of(self, entry: RunEntry) -> str:
        return "" if entry.status == "running" else self._catalogue.stamp_of(entry)

    def _nodes_of(self, connection: sql.Connection, ids: list[str]) -> set[Node]:
        found = set[Node]()
        for some in _parts(ids):
            asked = sql.select(table.c.name, table.c.digest).where(table.c.run.in_(some))
            found.update((name, digest) for name, digest in connection.execute(asked))
        return found

    def _runs_with(self, connection: sql.Connection, nodes: set[Node]) -> list[str]:
        found: dict[str, None] = {}
        for some in _parts(sorted({digest for _, digest in nodes})):
            asked = sql.select(table.c.run, table.c.name, table.c.digest).where(table.c.digest.in_(some))
            for run, name, digest in connection.execute(asked.order_by(table.c.run.desc()).limit(MOST_RUNS)):
                if (name, digest) in nodes:
                    found[run] = None
        return list(found)


def _parts(items: list[str]) -> Iterable[list[str]]:
    return (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))
