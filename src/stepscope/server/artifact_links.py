"""Which runs have to do with an artifact, in the database: so lineage and lookups read these runs, and not all of them.

A run is read once after it has changed, by whichever process comes first; what is here can be thrown away.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import sqlalchemy as sql
from sqlalchemy.exc import IntegrityError

from stepscope.database.engine import Database
from stepscope.database.tables import artifact_links as table, linked_runs
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.server.run_rows import sound
from stepscope.views.files.artifact_index import read_until

MOST_RUNS = 2_000
_AT_ONCE = 500

Node = tuple[str, str]
"""The name and digest of an artifact."""


class ArtifactLinks:
    """Safe to use from several threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._seen: dict[str, int] | None = None

    def note(self, entries: Iterable[RunEntry], deadline: float) -> int:
        """Read the runs that have changed since they were last noted; how many are left when the time is up."""
        with self._lock:
            seen = self._versions()
            waiting = {entry.id: entry for entry in entries if seen.get(entry.id) != entry.version}
            left, rows = 0, []
            for entry, found in read_until(waiting.values(), deadline):
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
            return left

    def around(self, run: str, may_see: Callable[[str], bool]) -> list[str]:
        """The runs connected with a run through artifacts, the nearest first, itself included."""
        found, runs, nodes = {run: None}, [run], set[Node]()
        with self._database.reading() as connection:
            while runs and len(found) < MOST_RUNS:
                fresh = self._nodes_of(connection, runs) - nodes
                nodes |= fresh
                runs = [one for one in self._runs_with(connection, fresh) if one not in found and may_see(one)]
                found.update(dict.fromkeys(runs))
        return list(found)

    def with_name(self, project: str, name: str) -> set[str]:
        """The runs of a project that logged or used an artifact of this name."""
        asked = sql.select(table.c.run).where(table.c.project == sound(project), table.c.name == sound(name))
        with self._database.reading() as connection:
            return set(connection.execute(asked).scalars())

    def _versions(self) -> dict[str, int]:
        if self._seen is None:
            with self._database.reading() as connection:
                rows = connection.execute(sql.select(linked_runs.c.run, linked_runs.c.version))
                self._seen = {row.run: row.version for row in rows}
        return self._seen

    def _save(self, noted: list[tuple[RunEntry, set[Node]]]) -> None:
        if not noted:
            return
        runs = [{"run": entry.id, "version": entry.version} for entry, _ in noted]
        rows = [
            {"run": entry.id, "name": sound(name), "digest": sound(digest), "project": sound(entry.project)}
            for entry, nodes in noted
            for name, digest in sorted(nodes)
        ]
        for _ in range(3):  # another process may be noting the same runs
            try:
                with self._database.writing() as connection:
                    connection.execute(linked_runs.delete().where(linked_runs.c.run.in_([one["run"] for one in runs])))
                    connection.execute(linked_runs.insert(), runs)
                    if rows:
                        connection.execute(table.insert(), rows)
            except IntegrityError:
                continue
            assert self._seen is not None
            self._seen.update((entry.id, entry.version) for entry, _ in noted)
            return

    def _nodes_of(self, connection: sql.Connection, runs: list[str]) -> set[Node]:
        found = set[Node]()
        for some in _parts(runs):
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
