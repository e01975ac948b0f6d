"""The catalogue in PostgreSQL: rows for the index, and pages of filtered and sorted runs.

    table = RunTable(database)
    table.save(store, rows)                                  # as the index of a catalogue
    page = table.page("config.lr < 0.01", sort="loss.min", descending=False, limit=50)

`RunTable` has the methods of `runs.catalogue.index.Index`, so a `Catalogue` keeps what it learns here, for all server
processes. Like that index it can be thrown away: the run folders are the truth.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import msgspec
import sqlalchemy as sql
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from stepscope.database.engine import Database
from stepscope.database.tables import run_metrics, run_values, runs
from stepscope.runs.catalogue.entry import Head, RunEntry
from stepscope.runs.catalogue.index import Row
from stepscope.runs.catalogue.metric_stats import MetricStats
from stepscope.runs.catalogue.ordering import natural_key
from stepscope.runs.query.query import Query, parse, parse_field
from stepscope.server.query_sql import Segment, compile_sql, narrowed, order_sql

__all__ = ["CHANNEL", "Page", "RunTable"]

log = logging.getLogger("stepscope.server")

T = TypeVar("T")

CHANNEL = "stepscope_runs"
"""PostgreSQL's NOTIFY on it carries the ids of changed runs, so that all server processes tell their pages."""
MOST_COUNTED = 2_000
"""Beyond this, matching runs are counted by the planner's estimate: nobody reads the last digit of a million."""
_MOST_TOLD = 250
"""A notice has room for 8,000 bytes; pages look at the whole list anyway."""
_MOST_TEXT = 20_000
_STATS = ("last", "first", "min", "max", "mean", "count", "nan", "inf", "last_step", "min_step", "max_step")
_OF_FINITE = ("min", "max", "mean")
_FACTS: dict[str, Callable[[Head], Any]] = {
    "notes": lambda head: head.notes,
    "host": lambda head: head.host or None,
    "user": lambda head: head.user or None,
    "group": lambda head: head.group,
    "git.commit": lambda head: head.commit,
    "git.branch": lambda head: head.branch,
    "name": lambda head: head.name,
    "project": lambda head: head.project,
    "status": lambda head: head.status,
    "id": lambda head: head.id,
    "tags": lambda head: head.tags,
}
_head_decoder = msgspec.msgpack.Decoder(Head)
_names_decoder = msgspec.msgpack.Decoder(tuple[str, ...])


class Page(NamedTuple):
    entries: list[RunEntry]
    matched: int
    exact: bool
    """Whether `matched` was counted, not estimated."""


class RunTable:
    """The runs of all stores of a server. Safe to use from several threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[tuple[str, str], tuple[float, bool]] = {}

    # -- as an index ------------------------------------------------------------------------------------------

    def rows(self, store: str) -> list[Row]:
        return self._safely(lambda: self._rows(store), [])

    def stats(self, store: str, folder: str) -> bytes | None:
        return self._safely(lambda: self._stats(store, folder), None)

    def visit_stats(self, store: str, visit: Callable[[str, bytes], None]) -> None:
        self._safely(lambda: self._visit_stats(store, visit), None)

    def save(self, store: str, rows: Iterable[Row], gone: Iterable[str] = ()) -> None:
        """Keep some rows and forget others, all or nothing, and tell the other processes."""
        rows, gone = list(rows), list(gone)
        if rows or gone:
            self._safely(lambda: self._save(store, rows, gone), None)

    def _safely(self, work: Callable[[], T], otherwise: T) -> T:
        """An index knows nothing at worst: the run folders do. Two processes may also have saved the same row."""
        try:
            return work()
        except IntegrityError:
            return otherwise
        except SQLAlchemyError as fault:
            log.warning("the catalogue's database does not answer: %s", str(fault).partition("\n")[0])
            return otherwise

    def _rows(self, store: str) -> list[Row]:
        asked = sql.select(runs.c.folder, runs.c.stamp, runs.c.head, runs.c.names).where(runs.c.store == store)
        with self._database.reading() as connection:
            found = connection.execute(asked).all()
        shared: dict[bytes, tuple[str, ...]] = {}
        return [
            Row(folder, stamp, bytes(head), shared.setdefault(bytes(names), _names_decoder.decode(names)))
            for folder, stamp, head, names in found
        ]

    def _stats(self, store: str, folder: str) -> bytes | None:
        asked = sql.select(runs.c.stats).where(runs.c.store == store, runs.c.folder == folder)
        with self._database.reading() as connection:
            found = connection.execute(asked).scalar()
        return None if found is None else bytes(found)

    def _visit_stats(self, store: str, visit: Callable[[str, bytes], None]) -> None:
        asked = sql.select(runs.c.folder, runs.c.stats).where(runs.c.store == store)
        with self._database.reading() as connection:
            for folder, data in connection.execution_options(yield_per=2000).execute(asked):
                visit(folder, bytes(data))

    def _save(self, store: str, rows: list[Row], gone: list[str]) -> None:
        heads = [_head_decoder.decode(row.head) for row in rows]
        with self._database.writing() as connection:
            folders = [*gone, *(row.folder for row in rows)]
            connection.execute(sql.delete(runs).where(runs.c.store == store, runs.c.folder.in_(folders)))
            if rows:
                self._insert(connection, store, rows, heads)
            told = ",".join(head.id for head in heads[:_MOST_TOLD])
            connection.execute(sql.select(sql.func.pg_notify(CHANNEL, told)))

    def _insert(self, connection: sql.Connection, store: str, rows: list[Row], heads: list[Head]) -> None:
        made = sql.insert(runs).returning(runs.c.key, sort_by_parameter_order=True)
        keys = connection.execute(made, [_run(store, *pair) for pair in zip(rows, heads, strict=True)]).scalars().all()
        values, metrics = [], []
        for key, row, head in zip(keys, rows, heads, strict=True):
            values += [{"run": key, **value} for value in run_values_of(head)]
            metrics += [{"run": key, **numbers} for numbers in run_metrics_of(row)]
        if values:
            connection.execute(sql.insert(run_values), values)
        if metrics:
            connection.execute(sql.insert(run_metrics), metrics)

    def close(self) -> None:
        """The database belongs to who opened it."""

    # -- as a table of runs -----------------------------------------------------------------------------------

    def page(
        self,
        query: str | Query = "",
        *,
        sort: str = "created",
        descending: bool = True,
        offset: int = 0,
        limit: int = 50,
        archived: bool = True,
        now: float | None = None,
    ) -> Page:
        """Some of the runs that match, in order, and how many match. `NotInSql` where only Python can say."""
        asked = parse(query) if isinstance(query, str) else query
        where, values = compile_sql(asked.tree, self._has_field, self._has_metric)
        by = parse_field(sort)
        segments, more = order_sql(by, descending, self._has_metric)
        values = {**values, **more, "now": time.time() if now is None else now}
        narrow = {**values}
        segments = narrowed(asked.tree, by, segments, narrow)
        if not archived:
            where = f"{where} AND NOT r.archived"
        with self._database.reading() as connection:
            found = _rows_of(connection, segments, where, narrow, offset, limit)
            matched, exact = self._count(connection, where, values)
        return Page([self._entry(*row) for row in found], matched, exact)

    def count(self) -> int:
        with self._database.reading() as connection:
            return int(connection.execute(sql.select(sql.func.count()).select_from(runs)).scalar_one())

    def _count(self, connection: sql.Connection, where: str, values: dict[str, Any]) -> tuple[int, bool]:
        counted = f"SELECT count(*) FROM (SELECT 1 FROM runs r WHERE {where} LIMIT {MOST_COUNTED + 1}) found"
        matched = int(connection.execute(sql.text(counted), values).scalar_one())
        if matched <= MOST_COUNTED:
            return matched, True
        plan = connection.execute(sql.text(f"EXPLAIN (FORMAT JSON) SELECT 1 FROM runs r WHERE {where}"), values)
        return max(matched, int(plan.scalar_one()[0]["Plan"]["Plan Rows"])), False

    def _entry(self, store: str, folder: str, head: bytes, names: bytes) -> RunEntry:
        known = _names_decoder.decode(names)
        places = {name: at for at, name in enumerate(known)}
        stats = MetricStats(known, places, folder, lambda where: self.stats(store, where) or b"")
        path = f"{store}/{folder}" if folder != "." else store
        return RunEntry(path, _head_decoder.decode(head), stats)

    def _has_field(self, field: str) -> bool:
        return self._has("run_values", "field", field)

    def _has_metric(self, name: str) -> bool:
        return self._has("run_metrics", "name", name)

    def _has(self, table: str, column: str, value: str) -> bool:
        """Whether any run has a field; asked again after a second, because a query names the same ones again."""
        until, known = self._known.get((table, value), (0.0, False))
        if time.monotonic() > until:
            with self._database.reading() as connection:
                text = sql.text(f"SELECT 1 FROM {table} WHERE {column} = :value LIMIT 1")
                known = connection.execute(text, {"value": _sound(value)}).first() is not None
            if len(self._known) > 1000:
                self._known.clear()
            self._known[table, value] = (time.monotonic() + 1.0, known)
        return known


def _rows_of(
    connection: sql.Connection, segments: list[Segment], where: str, values: dict[str, Any], offset: int, limit: int
) -> list[Any]:
    """A window of the segments, one after the other. One that ends before it is counted only as far as needed."""
    found: list[Any] = []
    for segment in segments:
        having = f"FROM {segment.source} WHERE {segment.where} AND {where}"
        text = (
            f"SELECT r.store, r.folder, r.head, r.names {having} ORDER BY {segment.order} LIMIT :limit OFFSET :offset"
        )
        more = connection.execute(sql.text(text), {**values, "limit": limit - len(found), "offset": offset}).all()
        found += more
        if len(found) >= limit:
            break
        if more:
            offset = 0
        elif offset:
            counted = sql.text(f"SELECT count(*) FROM (SELECT 1 {having} LIMIT :offset) before")
            offset -= int(connection.execute(counted, {**values, "offset": offset}).scalar_one())
    return found


# -- what is written of a run -----------------------------------------------------------------------------------


def _run(store: str, row: Row, head: Head) -> dict[str, Any]:
    return {
        "store": store,
        "folder": row.folder,
        "stamp": row.stamp,
        "id": head.id,
        "name": _sound(head.name),
        "name_lower": _lower(head.name),
        "project": _sound(head.project),
        "project_lower": _lower(head.project),
        "status": head.status,
        "created": head.created,
        "ended": head.ended,
        "duration": head.duration_s,
        "findings": head.findings,
        "dropped": head.dropped,
        "archived": "archived" in head.tags,
        "config": {_sound(key): _json(value) for key, value in head.config.items()},
        "head": row.head,
        "names": msgspec.msgpack.encode(row.names),
        "stats": row.stats,
    }


def run_values_of(head: Head) -> Iterator[dict[str, Any]]:
    """The rows of `run_values` for a run."""
    for name, fact in _FACTS.items():
        yield from _cells(f"run:{name}", fact(head))
    for source, values in (("config", head.config), ("summary", head.summary)):
        for key, value in values.items():
            yield from _cells(f"{source}:{key}", value)


def run_metrics_of(row: Row) -> Iterator[dict[str, Any]]:
    """The rows of `run_metrics` for a run."""
    stats = MetricStats(row.names, {name: at for at, name in enumerate(row.names)}, row.folder, lambda _: row.stats)
    stats.fill(row.stats)
    for name in row.names:
        yield {"name": _sound(name), **{stat: stats.number(name, stat) for stat in _STATS}}


def _cells(field: str, value: Any) -> Iterator[dict[str, Any]]:
    if value is None:
        return
    field = _sound(field)
    if isinstance(value, (list, tuple)):
        joined = ", ".join(map(str, value))
        natural = _natural(joined) if value else None
        yield {**_cell(field, 0, "l", joined), "natural": natural}
        for place, one in enumerate(value, 1):
            yield from ({**cell, "place": place} for cell in _cells(field, one) if not isinstance(one, (list, tuple)))
        return
    if isinstance(value, bool):
        yield {**_cell(field, 0, "b", "true" if value else "false"), "number": float(value)}
    elif isinstance(value, (int, float)):
        nan = isinstance(value, float) and math.isnan(value)
        yield {**_cell(field, 0, "x" if nan else "n", str(value)), "number": None if nan else _double(value)}
    else:
        text = value if isinstance(value, str) else str(value)
        yield {**_cell(field, 0, "t" if isinstance(value, str) else "o", text), "natural": _natural(text)}


def _cell(field: str, place: int, kind: str, text: str) -> dict[str, Any]:
    return {
        "field": field,
        "place": place,
        "kind": kind,
        "number": None,
        "text": _sound(text),
        "lower": _lower(text),
        "natural": None,
    }


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _lower(text: str) -> str | None:
    """NULL where it is the same: most text is."""
    lowered = _sound(text[:_MOST_TEXT].lower())
    return None if lowered == _sound(text) else lowered


def _sound(text: str) -> str:
    return text.replace("\0", "\ufffd")  # PostgreSQL's text has every character but this one


def _json(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str):
        return _sound(value)
    return value if isinstance(value, (bool, int, float, list)) or value is None else _sound(str(value))


def _natural(text: str) -> str:
    """A text whose order by code point is that of `natural_key`.

    >>> sorted(["run-10", "Run-2", "a"], key=_natural)
    ['a', 'Run-2', 'run-10']
    """
    pieces, lowered = natural_key(text)
    parts: list[str] = []
    for at, piece in enumerate(pieces):
        if at % 2:
            digits = str(piece)
            parts.append(f"\2{len(digits):03d}{digits}")
        else:
            parts.append(str(piece))
    return _sound("".join((*parts, "\1", lowered)))
