"""The index of a catalogue in PostgreSQL, for all processes of a server: what each run is, its values and its metrics.

    table = RunTable(database)
    table.save(store, rows)
    with Catalogue(store, index=table) as catalogue: ...

It has the methods of `runs.catalogue.index.Index`. Like that index it can be thrown away: the run folders are the
truth. `run_pages.py` asks the same tables for pages of runs.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec
import sqlalchemy as sql
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from stepscope.database.engine import Database
from stepscope.database.tables import run_metrics, run_values, runs
from stepscope.runs.catalogue.entry import Head
from stepscope.runs.catalogue.index import Row
from stepscope.server.run_rows import run_metrics_of, run_row, run_values_of

log = logging.getLogger("stepscope.server")

T = TypeVar("T")

CHANNEL = "stepscope_runs"
"""PostgreSQL's NOTIFY on it carries the ids of changed runs, so that all server processes tell their pages."""
_MOST_TOLD = 250
"""A notice has room for 8,000 bytes; pages look at the whole list anyway."""
_TRIES = 5
_head_decoder = msgspec.msgpack.Decoder(Head)
_names_decoder = msgspec.msgpack.Decoder(tuple[str, ...])
_ROWS = sql.select(runs.c.folder, runs.c.stamp, runs.c.head, runs.c.names)


def _warn(fault: SQLAlchemyError) -> None:
    log.warning("the catalogue's database does not answer: %s", str(fault).partition("\n")[0])


class RunTable:
    """The runs of all stores of a server. Safe to use from several threads and processes."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._saving = threading.Lock()
        self._unsaved: dict[str, dict[str, Row | None]] = {}
        """By store and folder, what the database did not take yet; None for a run that is gone."""

    @property
    def is_current(self) -> bool:
        """Whether the database has everything that was saved."""
        return not any(self._unsaved.values())

    def rows(self, store: str) -> Iterator[Row]:
        asked = _ROWS.where(runs.c.store == store)
        shared: dict[bytes, tuple[str, ...]] = {}
        try:
            with self.database.reading() as connection:
                for folder, stamp, head, names in connection.execution_options(yield_per=2000).execute(asked):
                    own = shared.setdefault(bytes(names), _names_decoder.decode(names))
                    yield Row(folder, stamp, bytes(head), own)
        except SQLAlchemyError as fault:
            _warn(fault)

    def row(self, store: str, folder: str) -> Row | None:
        return self._safely(lambda: self._row(store, folder), None)

    def stats(self, store: str, folder: str) -> bytes | None:
        return self._safely(lambda: self._stats(store, folder), None)

    def visit_stats(self, store: str, visit: Callable[[str, bytes], None]) -> None:
        self._safely(lambda: self._visit_stats(store, visit), None)

    def save(self, store: str, rows: Iterable[Row], gone: Iterable[str] = ()) -> None:
        """Keep some rows and forget others, all or nothing, and tell the other processes.

        What the database does not take now is kept and saved with the next rows.
        """
        with self._saving:
            waiting = self._unsaved.setdefault(store, {})
            waiting.update(dict.fromkeys(gone))
            waiting.update({row.folder: row for row in rows})
            if waiting:
                self._unsaved[store] = self._safely(lambda: self._save_again(store, waiting), waiting)

    def _safely(self, work: Callable[[], T], otherwise: T) -> T:
        """An index knows nothing at worst: the run folders do."""
        try:
            return work()
        except SQLAlchemyError as fault:
            _warn(fault)
            return otherwise

    def _save_again(self, store: str, waiting: dict[str, Row | None]) -> dict[str, Row | None]:
        """Save, and say what is left: nothing."""
        rows = [row for row in waiting.values() if row is not None]
        gone = [folder for folder, row in waiting.items() if row is None]
        for _ in range(_TRIES - 1):
            try:
                self._save(store, rows, gone)
                return {}
            except IntegrityError:  # another process saved one of these runs at the same moment
                continue
        self._save(store, rows, gone)
        return {}

    def _row(self, store: str, folder: str) -> Row | None:
        asked = _ROWS.where(runs.c.store == store, runs.c.folder == folder)
        with self.database.reading() as connection:
            found = connection.execute(asked).first()
        if found is None:
            return None
        return Row(found.folder, found.stamp, bytes(found.head), _names_decoder.decode(found.names))

    def _stats(self, store: str, folder: str) -> bytes | None:
        asked = sql.select(runs.c.stats).where(runs.c.store == store, runs.c.folder == folder)
        with self.database.reading() as connection:
            found = connection.execute(asked).scalar()
        return None if found is None else bytes(found)

    def _visit_stats(self, store: str, visit: Callable[[str, bytes], None]) -> None:
        asked = sql.select(runs.c.folder, runs.c.stats).where(runs.c.store == store)
        with self.database.reading() as connection:
            for folder, data in connection.execution_options(yield_per=2000).execute(asked):
                visit(folder, bytes(data))

    def _save(self, store: str, rows: list[Row], gone: list[str]) -> None:
        heads = [_head_decoder.decode(row.head) for row in rows]
        with self.database.writing() as connection:
            folders = [*gone, *(row.folder for row in rows)]
            connection.execute(sql.delete(runs).where(runs.c.store == store, runs.c.folder.in_(folders)))
            if rows:
                self._insert(connection, store, rows, heads)
            told = ",".join(head.id for head in heads[:_MOST_TOLD])
            connection.execute(sql.select(sql.func.pg_notify(CHANNEL, told)))

    def _insert(self, connection: sql.Connection, store: str, rows: list[Row], heads: list[Head]) -> None:
        made = sql.insert(runs).returning(runs.c.key, sort_by_parameter_order=True)
        keys = (
            connection.execute(made, [run_row(store, *pair) for pair in zip(rows, heads, strict=True)]).scalars().all()
        )
        values, metrics = [], []
        for key, row, head in zip(keys, rows, heads, strict=True):
            values += [{"run": key, **value} for value in run_values_of(head)]
            metrics += [{"run": key, **numbers} for numbers in run_metrics_of(row)]
        if values:
            connection.execute(sql.insert(run_values), values)
        if metrics:
            connection.execute(sql.insert(run_metrics), metrics)

    def count(self) -> int:
        with self.database.reading() as connection:
            return int(connection.execute(sql.select(sql.func.count()).select_from(runs)).scalar_one())

    def close(self) -> None:
        """The database belongs to who opened it."""
