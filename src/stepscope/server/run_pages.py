"""Pages of runs by SQL: filtered, limited, sorted and counted by PostgreSQL, as Python would do it.

    pages = RunPages(database)
    page = pages.page(Selection("config.lr < 0.01", sort="loss.min", descending=False), limit=50)

`NotInSql` is raised where only Python can say; `sql_catalogue.py` then asks Python.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sql
from sqlalchemy.exc import OperationalError

from stepscope.common.metric_direction import Goal
from stepscope.database.engine import Database
from stepscope.database.tables import runs
from stepscope.runs.catalogue.entry import Head, RunEntry
from stepscope.runs.catalogue.metric_stats import MetricStats
from stepscope.runs.catalogue.selection import RunPage, Selection
from stepscope.runs.query.query import Field, parse, parse_field
from stepscope.server.query_sql import NotInSql, Segment, compile_sql, order_sql, stat_sql
from stepscope.server.run_rows import sound

LARGE = 50_000
"""With fewer runs everything is counted; with more, what takes longer than `BUDGET_MS` is estimated."""
BUDGET_MS = 40
ESTIMATE_S = 30.0
_ENTRIES = sql.select(runs.c.store, runs.c.folder, runs.c.head, runs.c.names, runs.c.stats)
_head_decoder = msgspec.msgpack.Decoder(Head)
_names_decoder = msgspec.msgpack.Decoder(tuple[str, ...])


class _Condition(NamedTuple):
    where: str
    values: dict[str, Any]


class RunPages:
    """Asks the tables that `RunTable` fills. Safe to use from several threads."""

    def __init__(self, database: Database, stores: Sequence[str] = ()) -> None:
        """`stores` are the keys of those whose runs are shown; none for all."""
        self._database = database
        self._stores = list(stores)
        self._known: dict[tuple[str, str], tuple[float, bool]] = {}
        self._estimates: dict[str, tuple[float, int]] = {}

    def page(
        self, asked: Selection, offset: int = 0, limit: int = 50, *, without: Collection[str] = (), now: float = 0.0
    ) -> RunPage:
        """A window of a selection, leaving out the runs `without`, and how many match."""
        condition = self._condition(asked, without, now)
        by = parse_field(asked.sort)
        segments, more = order_sql(by, asked.descending, self.has_metric)
        direct = self._condition(asked, without, now, by if any(one.is_numeric for one in segments) else None)
        values = {**condition.values, **direct.values, **more}
        with self._database.reading() as connection:
            conditions = [direct.where if one.is_numeric else condition.where for one in segments]
            found = _rows_of(connection, segments, conditions, values, offset, limit)
            if len(found) < limit and (found or not offset):  # the end was seen
                return RunPage([_entry(*row) for row in found], offset + len(found))
            matched, exact = self._count(connection, condition)
        seen = offset + len(found)
        return RunPage([_entry(*row) for row in found], matched if exact else max(matched, seen + 1), exact)

    def range_of(
        self, asked: Selection, field: Field, *, without: Collection[str] = (), now: float = 0.0
    ) -> tuple[float, float] | None:
        """The least and the greatest finite number of a metric over finished runs; None where it takes too long."""
        condition = self._condition(asked, without, now)
        segments, more = order_sql(field, True, self.has_metric)
        if field.source != "metric":
            raise NotInSql(field.key)
        segment, column = segments[0], stat_sql("o", field.stat or "last")
        text = (
            f"SELECT {column} FROM {segment.source} WHERE {segment.where} AND {column} > '-Infinity' "
            f"AND {column} < 'Infinity' AND r.status = 'finished' AND {condition.where} ORDER BY {column} {{}} LIMIT 1"
        )
        values = {**condition.values, **more}
        with self._database.reading() as connection:
            try:
                with _budget(connection):
                    low = connection.execute(sql.text(text.format("ASC")), values).scalar()
                    high = connection.execute(sql.text(text.format("DESC")), values).scalar()
            except OperationalError:
                return None
        return None if low is None or high is None else (float(low), float(high))

    def goal(
        self, asked: Selection, metric: str, *, without: Collection[str] = (), now: float = 0.0
    ) -> tuple[str, Goal] | None:
        """Which way a metric is good, as the newest run with a word on it says, and that run."""
        if not self.has_field(f"goal:{metric}"):
            return None
        condition = self._condition(asked, without, now)
        text = (
            "SELECT r.id, v.text FROM run_values v JOIN runs r ON r.key = v.run "
            f"WHERE v.field = :goal AND {condition.where} ORDER BY r.id DESC LIMIT 1"
        )
        with self._database.reading() as connection:
            found = connection.execute(sql.text(text), {**condition.values, "goal": sound(f"goal:{metric}")}).first()
        return None if found is None else (found[0], found[1])

    def entry(self, run: str) -> RunEntry | None:
        asked = _ENTRIES.where(runs.c.id == run, *self._own())
        with self._database.reading() as connection:
            found = connection.execute(asked).first()
        return None if found is None else _entry(*found)

    def each(self) -> Iterator[RunEntry]:
        """All runs, in no order."""
        with self._database.reading() as connection:
            for row in connection.execution_options(yield_per=2000).execute(_ENTRIES.where(*self._own())):
                yield _entry(*row)

    def _own(self) -> list[sql.ColumnElement[bool]]:
        return [runs.c.store.in_(self._stores)] if self._stores else []

    def knows(self, field: Field) -> bool:
        """Whether any run has a field of the query language."""
        if field.source == "config":
            return any(self.has_field(f"config:{name}") for name in (field.name, field.name.replace(".", "/")))
        if field.source == "metric":
            return any(self.has_metric(name) for name in (field.name, f"{field.name}.{field.stat}"))
        return True

    def has_field(self, field: str) -> bool:
        return self._has("run_values", "field", field)

    def has_metric(self, name: str) -> bool:
        return self._has("run_metrics", "name", name)

    def _has(self, table: str, column: str, value: str) -> bool:
        """Whether any run has a field; asked again after a second, because a query names the same ones again."""
        until, known = self._known.get((table, value), (0.0, False))
        if time.monotonic() > until:
            with self._database.reading() as connection:
                text = sql.text(f"SELECT 1 FROM {table} WHERE {column} = :value LIMIT 1")
                known = connection.execute(text, {"value": sound(value)}).first() is not None
            if len(self._known) > 1000:
                self._known.clear()
            self._known[table, value] = (time.monotonic() + 1.0, known)
        return known

    def _count(self, connection: sql.Connection, condition: _Condition) -> tuple[int, bool]:
        """How many runs match, and whether they were counted. What took too long is not tried again for a while."""
        asked = f"FROM runs r WHERE {condition.where}"
        question = f"{asked} {sorted((key, one) for key, one in condition.values.items() if key != 'now')}"
        until, estimate = self._estimates.get(question, (0.0, 0))
        if time.monotonic() < until:
            return estimate, False
        try:
            with _budget(connection):
                counted = connection.execute(sql.text(f"SELECT count(*) {asked}"), condition.values).scalar_one()
                return int(counted), True
        except OperationalError:
            plan = connection.execute(sql.text(f"EXPLAIN (FORMAT JSON) SELECT 1 {asked}"), condition.values)
            estimate = int(plan.scalar_one()[0]["Plan"]["Plan Rows"])
        if len(self._estimates) > 1000:
            self._estimates.clear()
        self._estimates[question] = (time.monotonic() + ESTIMATE_S, estimate)
        return estimate, False

    def _condition(
        self, asked: Selection, without: Collection[str], now: float, sorted_by: Field | None = None
    ) -> _Condition:
        if asked.group_by is not None:
            raise NotInSql("groups")
        where, values = compile_sql(parse(asked.query).tree, self.has_field, self.has_metric, sorted_by)
        limits = [where] if asked.archived else [where, "NOT r.archived"]
        for name, comparison, chosen in (
            ("stores", "r.store = ANY", self._stores or None),
            ("projects", "r.project = ANY", asked.projects),
            ("runs", "r.id = ANY", asked.runs),
            ("without", "r.id <> ALL", without or None),
        ):
            if chosen is not None:
                limits.append(f"{comparison}(CAST(:{name} AS text[]))")
                values[name] = [sound(one) for one in chosen]
        return _Condition(" AND ".join(limits), {**values, "now": now})


def _budget(connection: sql.Connection) -> sql.NestedTransaction:
    """A block whose statements are cancelled (`OperationalError`) when they take long, where there are many runs."""
    block = connection.begin_nested()
    known = connection.execute(sql.text("SELECT reltuples FROM pg_class WHERE oid = 'runs'::regclass")).scalar_one()
    if known > LARGE:
        connection.execute(sql.text(f"SET LOCAL statement_timeout = {BUDGET_MS}"))
    return block


def _entry(store: str, folder: str, head: bytes, names: bytes, stats: bytes) -> RunEntry:
    known = _names_decoder.decode(names)
    metrics = MetricStats(known, {name: at for at, name in enumerate(known)}, folder, lambda _: b"")
    metrics.fill(bytes(stats))
    return RunEntry(f"{store}/{folder}" if folder != "." else store, _head_decoder.decode(head), metrics)


def _rows_of(
    connection: sql.Connection,
    segments: list[Segment],
    conditions: list[str],
    values: dict[str, Any],
    offset: int,
    limit: int,
) -> list[Any]:
    """A window of the segments, one after the other. One that ends before it is counted only as far as needed."""
    found: list[Any] = []
    for segment, where in zip(segments, conditions, strict=True):
        having = f"FROM {segment.source} WHERE {segment.where} AND {where}"
        window = f"{having} ORDER BY {segment.order} LIMIT :limit OFFSET :offset"
        text = f"SELECT r.store, r.folder, r.head, r.names, r.stats {window}"
        if segment.source == "runs r":  # what is skipped is then read from an index, without the wide rows themselves
            text = (
                "SELECT r.store, r.folder, r.head, r.names, r.stats FROM runs r "
                f"WHERE r.key IN (SELECT r.key {window}) ORDER BY {segment.order}"
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
