"""The pages of a server with PostgreSQL: the same answers as the catalogue in memory, whoever asks."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy.exc import OperationalError
from tests.runs.making import make_run

from stepscope.database.engine import Database, open_database
from stepscope.database.migrate import migrate
from stepscope.errors import NotFound, QueryError
from stepscope.records import RunMeta
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.selection import RunPage, Selection
from stepscope.runs.catalogue.visible import VisibleCatalogue
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run, run_folders
from stepscope.runs.query.query import parse_field
from stepscope.runs.write.writer import RunWriter
from stepscope.server.run_pages import RunPages
from stepscope.server.run_table import RunTable
from stepscope.server.sql_catalogue import SqlCatalogue
from stepscope.views.edit import EditRequest, changes, write_changes

if TYPE_CHECKING:
    from tests.postgres import Postgres

QUERIES = [
    "",
    "loss.min < 2",
    "config.lr >= 0.1 and not failed",
    "opt",
    "run-1*",
    "tags = best or acc > 0.5",
    "status = running",
    "project = b",
    "name ~ 1",
    "config.opt is null",
    "loss ~ 3",
    "not (loss < 3 or config.lr = 0.1)",
]
SORTS = ["created", "loss.min", "config.lr", "config.opt", "name", "tags", "duration", "acc"]
BEST = [parse_field(key) for key in ("loss.last", "loss.min", "acc.max", "score.last", "summary.loss")]


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Iterator[Database]:
    with open_database(postgres.new_database()) as database:
        migrate(database)
        yield database


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Forty runs that ended and four that go on."""
    store = tmp_path_factory.mktemp("team") / "runs"
    luck = random.Random(5)
    for number in range(40):
        series = {key: [luck.choice([0.1, 1.0, 3.0, 7.5]) for _ in range(3)] for key in ("loss", "acc", "score")}
        config: dict[str, Any] = {"lr": luck.choice([0.1, 0.01, 1]), "opt": luck.choice(["adam", "SGD", 3])}
        make_run(
            store,
            f"run-{number}",
            project=luck.choice("abc"),
            series={key: series[key] for key in luck.sample(sorted(series), 2)},
            config={key: config[key] for key in config if luck.random() < 0.8},
            tags=luck.sample(["best", "archived", "opt-2"], luck.randrange(3)),
            created=1_700_000_000.0 + luck.randrange(5),
        )
    for run in run_folders(store):  # a folder that was changed just now may change again within its time's resolution
        os.utime(run, (1_700_000_000, 1_700_000_000))
    writers = []
    for number in range(4):
        about = RunMeta(
            id=new_run_id(), project="abca"[number], name=f"run-1-live-{number}", created=1_700_000_002.0 + number
        )
        writer = RunWriter(create_run(store, about), run_id=about.id, heartbeat_s=0, fsync_s=0)
        writer.keyset(("loss",)).write(1, (float(number),))
        writers.append(writer)
    yield store
    for writer in writers:
        writer.close()


@pytest.fixture
def both(database: Database, folder: Path) -> Iterator[tuple[Catalogue, SqlCatalogue]]:
    with database.writing() as connection:
        connection.exec_driver_sql("TRUNCATE runs CASCADE")
    table = RunTable(database)
    with Catalogue(folder) as memory, SqlCatalogue(folder, table=table, few=0) as catalogue:
        memory.refresh()
        catalogue.refresh()
        assert not catalogue.refresh()  # runs that have ended are in the database only from now on
        yield memory, catalogue


def ids(page: RunPage) -> tuple[list[str], int]:
    return [entry.id for entry in page.entries], page.matched


def selections(luck: random.Random, all_ids: list[str]) -> Selection:
    return Selection(
        query=luck.choice(QUERIES),
        sort=luck.choice(SORTS),
        descending=luck.random() < 0.5,
        group_by=luck.choice([None, None, None, "project"]),
        archived=luck.random() < 0.5,
        runs=luck.choice([None, None, frozenset(luck.sample(all_ids, 20))]),
        projects=luck.choice([None, None, frozenset("ab"), frozenset("c"), frozenset[str]()]),
    )


def test_every_page_is_the_one_that_memory_has(both: tuple[Catalogue, SqlCatalogue]) -> None:
    memory, catalogue = both
    all_ids = [entry.id for entry in memory.every()]
    assert len([one for one in memory.every() if one.status == "running"]) == 4
    luck = random.Random(11)
    found = 0
    for _ in range(150):
        asked = selections(luck, all_ids)
        offset, limit = luck.choice([0, 0, 3, 17, 43, 60]), luck.choice([0, 1, 5, 50])
        expected = memory.page(asked, offset, limit)
        assert ids(catalogue.page(asked, offset, limit)) == ids(expected), (asked, offset, limit)
        assert catalogue.finished_ranges(asked, BEST) == memory.finished_ranges(asked, BEST), asked
        assert catalogue.goals(asked, {"loss", "score"}) == memory.goals(asked, {"loss", "score"}), asked
        found += len(expected.entries)
    assert found > 200


def test_most_pages_are_made_by_sql(both: tuple[Catalogue, SqlCatalogue], monkeypatch: pytest.MonkeyPatch) -> None:
    _, catalogue = both

    def never(*_: object) -> list[Any]:
        raise AssertionError("Python was asked")

    monkeypatch.setattr(catalogue, "entries", never)
    for query in QUERIES:
        if query != "loss ~ 3":  # a number matched as text
            for sort in SORTS:
                catalogue.page(Selection(query, sort))
    with pytest.raises(AssertionError, match="Python was asked"):
        catalogue.page(Selection("loss ~ 3"))


def test_only_runs_that_go_on_are_in_memory(both: tuple[Catalogue, SqlCatalogue]) -> None:
    memory, catalogue = both
    assert {entry.status for entry in catalogue._entries.values()} == {"running"}
    assert len(catalogue) == len(memory.every())
    for entry in memory.every():
        if entry.status != "running":  # whose duration grows
            assert catalogue.entry(entry.id).head == entry.head
        assert catalogue.get(entry.id).meta == memory.get(entry.id).meta


def test_the_folders_with_runs_are_known_without_reading_a_run(
    both: tuple[Catalogue, SqlCatalogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trash is looked for there, by every process of a server with a million runs."""
    memory, catalogue = both
    monkeypatch.setattr(RunPages, "each", lambda _: pytest.fail("it read every run"))
    assert catalogue.homes() == memory.homes()


def test_everything_else_is_answered_as_from_memory(both: tuple[Catalogue, SqlCatalogue]) -> None:
    memory, catalogue = both
    assert facts_of(catalogue) == facts_of(memory)
    here = VisibleCatalogue(memory, frozenset("ac"))
    assert facts_of(VisibleCatalogue(catalogue, frozenset("ac"))) == facts_of(here)
    for query in QUERIES:
        assert [one.id for one in catalogue.entries(query, "loss.min")] == [
            one.id for one in memory.entries(query, "loss.min")
        ]


def test_a_run_that_changes_or_goes_is_counted_anew(both: tuple[Catalogue, SqlCatalogue], folder: Path) -> None:
    memory, catalogue = both
    one, other = [entry for entry in memory.every() if entry.status == "finished"][:2]
    write_changes(one.path, one.id, changes(EditRequest([one.id], add_tags=["new"], name="renamed")))
    shutil.rmtree(other.path)
    news = catalogue.refresh()
    memory.refresh()
    assert (news.changed, news.gone) == ([one.id], [other.id])
    assert catalogue.entry(one.id).name == "renamed"
    assert catalogue.entry(one.id).version > one.version
    with pytest.raises(NotFound):
        catalogue.entry(other.id)
    assert facts_of(catalogue) == facts_of(memory)
    assert not catalogue.refresh()
    assert facts_of(catalogue) == facts_of(memory)


def facts_of(catalogue: Catalogue) -> dict[str, Any]:
    """What the app says of all runs."""
    found: dict[str, Any] = {"runs": len(catalogue), "projects": catalogue.projects()}
    for query in ("", "project = a", "project in (a, b)", "project = a and loss.min < 3"):
        columns, default = catalogue.table_columns(Selection(query))
        found[query] = (sorted(columns, key=lambda one: one.key), sorted(default))
    found["each"] = {entry.id for entry in catalogue.each()}
    found["every"] = [entry.id for entry in catalogue.every()]
    found["running"] = {entry.id for entry in catalogue.running()}
    found["of a"] = catalogue.count("a")
    return found


def test_people_see_pages_of_their_own_projects(both: tuple[Catalogue, SqlCatalogue]) -> None:
    memory, catalogue = both
    one = memory.every()[7].id
    for projects, run in ((frozenset("a"), None), (frozenset("bc"), None), (frozenset[str](), one)):
        here, there = VisibleCatalogue(memory, projects, run), VisibleCatalogue(catalogue, projects, run)
        for query in QUERIES:
            asked = Selection(query, "loss.min")
            assert ids(there.page(asked, 0, 100)) == ids(here.page(asked, 0, 100))
            assert {entry.id for entry in there.page(asked, 0, 100).entries} <= {entry.id for entry in here.every()}


def test_a_field_that_no_run_has_is_an_error_as_before(both: tuple[Catalogue, SqlCatalogue]) -> None:
    with pytest.raises(QueryError, match="no run has a metric 'los'; did you mean loss"):
        both[1].page(Selection("los < 3"))


def test_a_run_that_nobody_has_looked_at_yet_is_in_the_page(both: tuple[Catalogue, SqlCatalogue], folder: Path) -> None:
    _, catalogue = both
    new = make_run(folder, "new", project="z", series={"loss": [1.0]})
    catalogue.entry(new.name)
    assert [one.id for one in catalogue.page(Selection("project = z")).entries] == [new.name]
    catalogue.refresh()
    assert [one.id for one in catalogue.page(Selection("project = z")).entries] == [new.name]


def test_a_database_that_is_away_changes_no_answer(
    both: tuple[Catalogue, SqlCatalogue], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, catalogue = both
    table = catalogue._table
    asked = Selection(sort="loss.min")

    def away(*_: object, **__: object) -> Any:
        raise OperationalError("", {}, Exception("the database is away"))

    with monkeypatch.context() as broken:
        broken.setattr(RunPages, "page", away)
        assert ids(catalogue.page(asked, 0, 100)) == ids(memory.page(asked, 0, 100))
    with monkeypatch.context() as broken:
        broken.setattr(RunTable, "_save", away)
        late = make_run(folder, "late", project="late", series={"loss": [0.5]})
        catalogue.refresh()
        assert not table.is_current
        assert [one.id for one in catalogue.page(Selection("project = late")).entries] == [late.name]
    catalogue.refresh()  # what was not saved is saved now
    assert table.is_current
    assert [one.id for one in RunPages(table.database).page(Selection("project = late")).entries] == [late.name]


def test_patterns_find_the_same_with_an_index_of_trigrams(both: tuple[Catalogue, SqlCatalogue]) -> None:
    memory, catalogue = both
    database = catalogue._table.database
    with database.reading() as connection:
        names = connection.exec_driver_sql("SELECT indexname FROM pg_indexes WHERE tablename = 'runs'").scalars().all()
    if "ix_runs_words_trigrams" not in names:
        pytest.skip("this PostgreSQL has no pg_trgm")
    with open_database(f"{database.url}&options=-c%20enable_seqscan%3Doff") as by_index:
        pages = RunPages(by_index)
        for query in ("run-1", "name ~ run-1*", "name ~ *2*", "name ~ un-2", '"opt-"', "r?n-3*", "name !~ run-1*"):
            asked = Selection(f"status = finished and {query}")
            assert ids(pages.page(asked, 0, 100)) == ids(memory.page(asked, 0, 100)), query
