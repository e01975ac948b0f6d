"""The query language as SQL, on a real PostgreSQL: the same runs in the same order as Python finds."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.runs.making import make_run

from stepscope.database.engine import Database, open_database
from stepscope.database.migrate import migrate
from stepscope.errors import QueryError
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.entry import Head, RunEntry
from stepscope.runs.catalogue.index import Row
from stepscope.runs.catalogue.metric_stats import MetricStats, pack_stats
from stepscope.runs.catalogue.ordering import ordered
from stepscope.runs.catalogue.selection import Selection, newest_goals, ranges_of
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.points.summary import MetricSummary
from stepscope.runs.query.query import Field, parse, parse_field
from stepscope.server.query_sql import NotInSql
from stepscope.server.run_pages import RunPages
from stepscope.server.run_table import CHANNEL, RunTable

if TYPE_CHECKING:
    from tests.postgres import Postgres

NOW = 1_800_000_000.0
WORDS = ["run-2", "run-10", "Run-2", "base", "Größe", "ÄPFEL", "100%", "a_b", "a*b", "x\\y", "", "true", "0.1", "nan"]
NUMBERS = [0.1, 1.0, 1, 0, -3, 1e-5, 2.5, math.nan, math.inf, -math.inf, 2**40, 0.30000000000000004]
CONFIG = ["lr", "opt", "net/depth", "net.depth", "flag", "list"]
FIELDS = ["config.lr", "config.opt", "config.net.depth", "config.flag", "config.list", "summary.acc", "summary.loss"]
METRICS = [
    "loss",
    "loss.min",
    "val/acc",
    "loss.max",
    "val/acc.count",
    "loss.mean",
    "loss.first",
    '"odd.max"',
    "lr.last_step",
]
FACTS = ["name", "project", "status", "id", "tags", "notes", "host", "user", "group", "git.commit"]
TIMES = ["created", "ended", "age", "duration", "findings", "dropped"]
ASKED = [
    "0.1",
    "1",
    "0",
    "-3",
    "1e-5",
    "nan",
    "inf",
    "true",
    "False",
    '"0.1"',
    "run-2",
    '"ÄPFEL"',
    "90s",
    "2026-11-01",
    '""',
]


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[Database]:
    with open_database(postgres.new_database()) as database:
        migrate(database)
        yield database


@pytest.fixture
def table(database: Database) -> RunTable:
    with database.writing() as connection:
        connection.exec_driver_sql("TRUNCATE runs CASCADE")
    return RunTable(database)


def a_value(luck: random.Random) -> Any:
    return luck.choice([*NUMBERS, *WORDS, True, False, None, [], ["a", 1, True], [0.1], ["run-2"], 1_793_491_200.5])


def a_summary(luck: random.Random) -> MetricSummary:
    def pick() -> float:
        return float(luck.choice(NUMBERS))

    return MetricSummary(
        last=pick(), first=pick(), min=luck.choice([math.nan, 0.1, -3.0]), max=luck.choice([math.nan, 1.0]),
        mean=luck.choice([math.nan, 0.5]), count=luck.randrange(4), nan=luck.randrange(2), inf=0,
        last_step=luck.choice([None, 7]), min_step=luck.choice([None, 3]), max_step=luck.choice([None, 9]),
        first_step=0,
    )  # fmt: skip


def a_row(luck: random.Random, number: int) -> tuple[Row, RunEntry]:
    names = tuple(name for name in ("loss", "val/acc", "lr", "odd.max", "loss.max", "acc") if luck.random() < 0.6)
    head = Head(
        id=new_run_id(number + 1.0), name=luck.choice(WORDS) or "x", project=luck.choice(["p", "Q", "100%"]),
        status=luck.choice(["finished", "failed", "running"]), created=luck.choice([NOW - 86400, NOW, 1_793_491_200.5]),
        ended=luck.choice([None, NOW]), duration_s=luck.choice([0.0, 90.0, 3600.0]),
        tags=luck.sample(["a", "B", "run-10", "archived"], luck.randrange(3)), notes=luck.choice(WORDS),
        group=luck.choice([None, "g"]), host=luck.choice(["", "gpu-7"]), user=luck.choice(["", "Ann"]),
        commit=luck.choice([None, "abc"]), branch=None,
        config={key: a_value(luck) for key in CONFIG if luck.random() < 0.7},
        summary={key: a_value(luck) for key in ("acc", "loss") if luck.random() < 0.4},
        main=None, spark=[], findings=luck.randrange(3), dropped=0, version=1,
        goals={key: luck.choice(["min", "max"]) for key in ("loss", "acc") if luck.random() < 0.2},
    )  # fmt: skip
    stats = pack_stats([a_summary(luck) for _ in names])
    entry = RunEntry(
        "x", head, MetricStats(names, {name: at for at, name in enumerate(names)}, head.id, lambda _: stats)
    )
    return Row(head.id, "=1", msgspec.msgpack.encode(head), names, stats), entry


def value_of(field: Field, entry: RunEntry) -> Any:
    return entry.value(field, NOW)


def a_query(luck: random.Random, depth: int = 0) -> str:
    if depth < 3 and luck.random() < 0.4:
        parts = [a_query(luck, depth + 1) for _ in range(2)]
        return luck.choice(["({} and {})", "({} or {})", "(not {} and {})"]).format(*parts)
    if luck.random() < 0.1:
        return luck.choice(["base", '"100%"', "größe", "run-?0", "*a*", "b"])
    field = luck.choice(luck.choice([FIELDS, METRICS, FACTS, TIMES]))
    way = luck.choice(["=", "!=", "<", "<=", ">", ">=", "~", "!~", "in", "not in", "is null", "is not null"])
    if way.startswith("is"):
        return f"{field} {way}"
    if way.endswith("in"):
        return f"{field} {way} ({luck.choice(ASKED)}, {luck.choice(ASKED)})"
    if way.endswith("~"):
        return f"{field} {way} {luck.choice([*ASKED, 'run*', 'gro*', '*%', 'a_b', '?pfel'])}"
    return f"{field} {way} {luck.choice(ASKED)}"


@pytest.mark.parametrize("seed", range(3))
def test_sql_and_python_find_the_same_runs_in_the_same_order(table: RunTable, seed: int) -> None:
    luck = random.Random(seed)
    rows, entries = zip(*(a_row(luck, number) for number in range(60)), strict=True)
    table.save("s", rows)
    pages = RunPages(table.database)
    newest = sorted(entries, key=lambda entry: (entry.created, entry.id), reverse=True)
    tried = refused = python_only = 0
    while tried < 250:
        text = a_query(luck)
        sort = luck.choice([*FIELDS[:5], *METRICS, *FACTS, *TIMES])
        if luck.random() < 0.2:  # sorted by what is bounded
            sort = luck.choice(["config.lr", "loss.min", "loss", "val/acc.count"])
            text = f"({text}) and {sort} {luck.choice(['<', '<=', '>', '>='])} {luck.choice(ASKED[:7])}"
        descending = luck.random() < 0.5
        try:
            query = parse(text)
        except QueryError:
            refused += 1
            continue
        expected = ordered(
            [one for one in newest if query.matches(one, NOW)], partial(value_of, parse_field(sort)), descending
        )
        try:
            page = pages.page(Selection(text, sort, descending), limit=100, now=NOW)
        except NotInSql:
            python_only += 1
            continue
        tried += 1
        found = [entry.id for entry in page.entries]
        assert found == [entry.id for entry in expected], (text, sort, descending)
        assert (page.matched, page.exact) == (len(expected), True)
    assert python_only < tried


def test_sql_and_python_find_the_same_ranges_and_goals(table: RunTable) -> None:
    luck = random.Random(3)
    rows, entries = zip(*(a_row(luck, number) for number in range(60)), strict=True)
    table.save("s", rows)
    pages = RunPages(table.database)
    fields = [parse_field(key) for key in ("loss", "loss.min", "val/acc.mean", "lr.first", "nowhere")]
    for text in ("", "status = failed", "notes ~ a or tags = a", "loss.count > 1", "name = base"):
        query, asked = parse(text), Selection(text)
        matching = [one for one in entries if query.matches(one, NOW)]
        expected = ranges_of(matching, fields)
        assert {one: pages.range_of(asked, one, now=NOW) for one in fields} == {
            one: expected.get(one) for one in fields
        }
        goals = newest_goals(matching, {"loss", "acc", "lr"})
        assert {name: pages.goal(asked, name, now=NOW) for name in ("loss", "acc", "lr")} == {
            name: goals.get(name) for name in ("loss", "acc", "lr")
        }


def test_the_entries_of_a_page_are_those_that_were_saved(table: RunTable) -> None:
    luck = random.Random(9)
    row, entry = a_row(luck, 1)
    table.save("s", [row])
    (found,) = RunPages(table.database).page(Selection()).entries
    assert msgspec.msgpack.encode(found.head) == row.head
    assert found.metrics.names == row.names
    for name in row.names:
        for stat in ("last", "min", "count", "last_step"):
            here, there = found.metrics.number(name, stat), entry.metrics.number(name, stat)
            assert here == there or (here != here and there != there)
    assert table.stats("s", row.folder) == row.stats
    table.save("s", [], [row.folder])
    assert table.count() == 0


def test_pages_leave_archived_runs_out_and_go_on(table: RunTable) -> None:
    luck = random.Random(4)
    rows, entries = zip(*(a_row(luck, number) for number in range(30)), strict=True)
    table.save("s", rows)
    pages, asked = RunPages(table.database), Selection(archived=False)
    shown = [one.id for at in range(0, 30, 7) for one in pages.page(asked, at, 7).entries]
    kept = [
        one.id
        for one in sorted(entries, key=lambda one: (one.created, one.id), reverse=True)
        if "archived" not in one.tags
    ]
    assert shown == kept


@pytest.mark.parametrize("sort", ["config.lr", "loss.min", "name", "tags", "duration"])
@pytest.mark.parametrize("descending", [False, True])
def test_windows_of_a_sorted_list_make_up_the_list(table: RunTable, sort: str, descending: bool) -> None:
    luck = random.Random(7)
    table.save("s", [a_row(luck, number)[0] for number in range(40)])
    pages, asked = RunPages(table.database), Selection(sort=sort, descending=descending)
    whole = [one.id for one in pages.page(asked, limit=100).entries]
    for size in (1, 7):
        windows = [pages.page(asked, at, size) for at in range(0, 45, size)]
        assert [one.id for window in windows for one in window.entries] == whole


def test_a_catalogue_keeps_what_it_learns_in_the_database(table: RunTable, tmp_path: Path) -> None:
    store = tmp_path / "runs"
    run = make_run(store, series={"loss": [3.0, 2.0, 1.0]}, config={"lr": 0.5})
    with Catalogue(store, index=table) as catalogue:
        catalogue.refresh()
        assert [one.id for one in catalogue.entries("config.lr = 0.5 and loss.min = 1")] == [run.name]
    found = RunPages(table.database).page(Selection("config.lr = 0.5 and loss.min = 1")).entries
    assert [one.id for one in found] == [run.name]
    with Catalogue(store, index=RunTable(table.database)) as again:  # another process: nothing is read from the folder
        assert again.entry(run.name).metrics.number("loss", "min") == 1.0


def test_other_processes_are_told_of_what_changed(table: RunTable, database: Database) -> None:
    import psycopg

    row, entry = a_row(random.Random(1), 1)
    with psycopg.connect(database.url, autocommit=True) as other:
        other.execute(f"LISTEN {CHANNEL}".encode())
        table.save("s", [row])
        (told,) = list(other.notifies(timeout=60, stop_after=1))
    assert told.payload == entry.id
