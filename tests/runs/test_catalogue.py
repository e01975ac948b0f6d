"""The catalogue: what it lists, how it keeps up, and that it never needs to read what it knows."""

from __future__ import annotations

import json
import math
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepscope.errors import NotFound, QueryError
from stepscope.records import (
    ConfigUpdate,
    Dropped,
    End,
    Finding,
    FindingEvent,
    GitState,
    MetricRule,
    RunMeta,
    SummaryUpdate,
    TagsChange,
)
from stepscope.runs.catalogue import read_head
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.columns import default_columns
from stepscope.runs.catalogue.index import Index
from stepscope.runs.catalogue.main_metric import main_metric, sparkline
from stepscope.runs.catalogue.ordering import grouped, natural_key, ordered
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter

from .making import LONG_AGO, make_old, make_run


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(tmp_path / "cache")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the runs that were really read, in order."""
    seen: list[str] = []
    real = read_head.read_run

    def counting(path: Path, before: read_head.Reading | None = None, version: int = 0) -> read_head.Reading:
        seen.append(path.name)
        return real(path, before, version)

    monkeypatch.setattr(read_head, "read_run", counting)
    return seen


def names(catalogue: Catalogue, query: str = "", **how: object) -> list[str]:
    return [entry.name for entry in catalogue.entries(query, **how)]  # type: ignore[arg-type]


def test_an_entry_knows_what_a_list_shows(store: Path, index: Index) -> None:
    path = make_run(
        store,
        "first",
        project="vae",
        config={"lr": 0.1, "model/depth": 3},
        tags=["a"],
        host="box",
        user="me",
        group="sweep",
        git=GitState(commit="abc", branch="main"),
        series={"loss": [3.0, 1.0, math.nan, 2.0], "acc": [0.5]},
        events=[
            ConfigUpdate(time=1, values={"lr": 0.2}),
            TagsChange(time=1, add=["b"]),
            Dropped(time=1, count=7, reason="disk full"),
            FindingEvent(time=1, finding=Finding(rule="x", severity="error", message="m")),
            SummaryUpdate(time=1, values={"best": 9}),
            MetricRule(time=1, name="loss", summary="min"),
        ],
    )
    with Catalogue(store, index=index) as catalogue:
        (entry,) = catalogue.entries()
        assert (entry.path, entry.name, entry.project, entry.status) == (path, "first", "vae", "finished")
        assert (entry.config, entry.tags, entry.host, entry.user) == (
            {"lr": 0.2, "model/depth": 3},
            ["a", "b"],
            "box",
            "me",
        )
        assert (entry.group, entry.dropped, entry.findings, entry.main) == ("sweep", 7, 1, "loss")
        assert entry.spark == [3.0, 1.0, None, 2.0]
        loss = entry.metrics["loss"]
        assert (loss.last, loss.min, loss.max, loss.count, loss.nan, loss.min_step) == (2.0, 1.0, 3.0, 4, 1, 1)
        assert list(entry.metrics) == ["acc", "loss"]
        for query in (
            "git.commit = abc",
            "summary.best = 9",
            "summary.loss = 1",
            "loss = 2",
            "loss.nan = 1",
            "config.model.depth = 3",
            "host = box and user = me and group = sweep",
            "dropped = 7 and findings = 1",
            "ended is not null",
        ):
            assert len(catalogue.entries(query)) == 1, query


def test_the_second_look_in_a_new_process_reads_no_run(store: Path, tmp_path: Path, reads: list[str]) -> None:
    for number in range(5):
        make_run(store, f"run-{number}", series={"loss": [number, number / 2]}, config={"n": number})
    make_old(store)
    with Catalogue(store, index=Index(tmp_path / "cache")) as first:
        expected = [(e.id, e.name, e.config, dict(e.metrics), e.spark) for e in first.entries(sort="name")]
    assert len(reads) == 5
    reads.clear()
    with Catalogue(store, index=Index(tmp_path / "cache")) as second:
        assert [(e.id, e.name, e.config, dict(e.metrics), e.spark) for e in second.entries(sort="name")] == expected
        assert names(second, "loss.min < 0.6", sort="loss.min", descending=False) == ["run-0", "run-1"]
    assert reads == []


def test_what_changes_is_told_and_only_that_is_read(store: Path, index: Index, reads: list[str]) -> None:
    first, second = make_run(store, "one"), make_run(store, "two")
    make_old(store)
    catalogue = Catalogue(store, index=index)
    changes = catalogue.refresh()
    assert (len(changes.changed), changes.gone, changes.version) == (2, [], 1)
    assert not catalogue.refresh()
    version = catalogue.entry(second.name).version
    reads.clear()
    editor = RunWriter(second, run_id=second.name, role="edit", heartbeat_s=0, fsync_s=0)
    editor.event(TagsChange(time=time.time(), add=["good"]))
    editor.close()
    shutil.rmtree(first)
    changes = catalogue.refresh()
    assert (changes.changed, changes.gone, changes.version) == ([second.name], [first.name], 2)
    assert reads == [second.name]
    assert names(catalogue, "tags = good") == ["two"]
    assert catalogue.entry(second.name).version > version


def test_an_open_edit_of_an_ended_run_is_seen_though_the_folder_looks_the_same(store: Path, index: Index) -> None:
    path = make_run(store, "one")
    editor = RunWriter(path, run_id=path.name, role="edit", heartbeat_s=0, fsync_s=0)
    editor.event(TagsChange(time=1, add=["a"]))
    make_old(store)
    catalogue = Catalogue(store, index=index)
    assert catalogue.entries()[0].tags == ["a"]
    before = os.stat(path).st_mtime_ns
    editor.event(TagsChange(time=2, add=["b"]))
    assert os.stat(path).st_mtime_ns == before
    assert catalogue.refresh().changed == [path.name]
    assert catalogue.entries()[0].tags == ["a", "b"]
    editor.close()


def test_a_fresh_folder_is_looked_into_until_its_time_can_be_trusted(store: Path, index: Index) -> None:
    path = make_run(store, "one")
    clock = [os.stat(path).st_mtime + 0.5]
    catalogue = Catalogue(store, index=index, clock=lambda: clock[0])
    catalogue.refresh()
    (row,) = index.rows(os.path.realpath(store))
    assert row.stamp.startswith("~")
    clock[0] += 5
    assert not catalogue.refresh()
    (row,) = index.rows(os.path.realpath(store))
    assert row.stamp.startswith("=")


def test_a_live_run_grows_in_the_list_and_its_death_is_noticed(store: Path, index: Index) -> None:
    meta = RunMeta(id=new_run_id(), project="p", name="live", created=time.time())
    writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=0, fsync_s=0)
    row = writer.keyset(("loss",))
    row.write(0, (1.0,))
    catalogue = Catalogue(store, index=index)
    (entry,) = catalogue.entries()
    assert (entry.status, entry.metrics["loss"].last) == ("running", 1.0)
    folder = catalogue.get(meta.id)
    row.write(1, (0.5,))
    assert catalogue.refresh().changed == [meta.id]
    (after,) = catalogue.entries()
    assert (after.metrics["loss"].last, after.metrics["loss"].count) == (0.5, 2)
    assert after.version > entry.version
    assert catalogue.get(meta.id) is folder
    assert len(folder.series("loss")) == 2
    writer.close(End(time=time.time(), status="failed", error="ValueError: no"))
    assert catalogue.refresh().changed == [meta.id]
    assert catalogue.entries()[0].status == "failed"


def test_the_status_of_a_silent_run_is_worked_out_again_without_reading(
    store: Path, index: Index, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_run(store, "silent", series={"loss": [1.0]}, status=None, created=time.time())
    catalogue = Catalogue(store, index=index)
    assert catalogue.entries()[0].status == "running"
    reads.clear()
    from stepscope.runs.read import status

    real = status.this_machine()
    later = status.Machine("elsewhere", "boot", lambda: time.time() + 1000, lambda pid: None)
    assert real.host != later.host
    monkeypatch.setattr(catalogue.get(path.name), "_machine", later)
    monkeypatch.setattr("stepscope.common.clocks.monotonic", lambda base=time.monotonic: base() + 1000)
    assert catalogue.refresh().changed == [path.name]
    assert catalogue.entries()[0].status == "lost"
    assert reads == []


def test_stores_may_be_nested_missing_or_a_run_themselves(store: Path, index: Index, tmp_path: Path) -> None:
    make_run(store / "team" / "vision", "deep")
    (store / "team" / "notes").mkdir()
    (store / "README").write_text("not a run")
    alone = make_run(tmp_path / "other", "alone")
    renamed = make_run(store, "renamed")
    renamed.rename(store / "my favourite run")
    catalogue = Catalogue(store, alone, tmp_path / "nowhere", index=index)
    assert sorted(names(catalogue)) == ["alone", "deep", "renamed"]
    (tmp_path / "nowhere").mkdir()
    make_run(tmp_path / "nowhere", "late")
    assert len(catalogue.refresh().changed) == 1
    assert {entry.path.parent.name for entry in catalogue.entries("late")} == {"nowhere"}


def test_the_same_run_in_two_places_is_one_run(store: Path, index: Index) -> None:
    path = make_run(store, "one")
    shutil.copytree(path, store / "copy")
    assert names(Catalogue(store, index=index)) == ["one"]


def test_a_folder_that_cannot_be_read_is_a_problem_and_not_the_end(store: Path, index: Index, reads: list[str]) -> None:
    make_run(store, "good")
    bad = make_run(store, "bad")
    (bad / "meta.json").write_text("{")
    for log in bad.glob("*.log"):  # it has a copy
        log.unlink()
    (store / new_run_id()).mkdir()
    catalogue = Catalogue(store, index=index)
    assert names(catalogue) == ["good"]
    assert "meta.json" in catalogue.problems[bad]
    count = len(reads)
    catalogue.refresh()
    assert len(reads) <= count + 1
    (bad / "meta.json").write_text(json.dumps({"id": bad.name, "project": "p", "name": "mended", "created": 1.0}))
    assert catalogue.refresh().changed == [bad.name]
    assert bad not in catalogue.problems


@pytest.fixture
def three(store: Path, index: Index) -> Iterator[Catalogue]:
    make_run(store, "run-10", config={"lr": 0.1}, series={"loss": [math.nan]}, created=LONG_AGO, project="a")
    make_run(store, "Run-9", config={"lr": "auto"}, series={"loss": [0.5]}, created=LONG_AGO + 1, project="b")
    make_run(store, "run-1", series={"loss": [0.25], "x.max": [7.0]}, created=LONG_AGO + 2, project="a")
    with Catalogue(store, index=index) as catalogue:
        yield catalogue


@pytest.mark.parametrize(
    ("sort", "descending", "expected"),
    [
        ("created", True, ["run-1", "Run-9", "run-10"]),
        ("created", False, ["run-10", "Run-9", "run-1"]),
        ("name", False, ["run-1", "Run-9", "run-10"]),
        ("loss.last", False, ["run-1", "Run-9", "run-10"]),
        ("loss.last", True, ["Run-9", "run-1", "run-10"]),
        ("config.lr", False, ["run-10", "Run-9", "run-1"]),
        ("config.lr", True, ["Run-9", "run-10", "run-1"]),
        ("nonsense", False, ["run-1", "Run-9", "run-10"]),
    ],
)
def test_sorts_naturally_with_missing_values_and_nan_last(
    three: Catalogue, sort: str, descending: bool, expected: list[str]
) -> None:
    assert names(three, sort=sort, descending=descending) == expected


def test_groups_follow_each_other(three: Catalogue) -> None:
    assert names(three, group_by="project") == ["run-1", "run-10", "Run-9"]
    groups = grouped(three.entries(), lambda entry: entry.config.get("lr"))
    assert [(value, [e.name for e in members]) for value, members in groups] == [
        (0.1, ["run-10"]),
        ("auto", ["Run-9"]),
        (None, ["run-1"]),
    ]


def test_a_query_for_a_metric_whose_name_ends_like_a_statistic(three: Catalogue) -> None:
    assert names(three, "x.max = 7") == ["run-1"]


def test_a_mistyped_field_is_an_error_that_names_the_right_one(three: Catalogue) -> None:
    with pytest.raises(QueryError, match="did you mean loss"):
        three.entries("lss < 1")
    with pytest.raises(QueryError, match=r"did you mean config\.lr"):
        three.entries("lr < 1")
    with pytest.raises(QueryError):
        three.entries(sort="config.")


def test_an_empty_store_answers_every_query(store: Path, index: Index) -> None:
    assert Catalogue(store, index=index).entries("anything.min < 3") == []


def test_columns_say_what_differs(three: Catalogue) -> None:
    columns = {column.key: column for column in three.columns()}
    assert (columns["config.lr"].type, columns["config.lr"].distinct, columns["config.lr"].count) == ("text", 2, 2)
    assert (columns["project"].distinct, columns["created"].type) == (2, "time")
    assert columns["loss.min"].source == "metric"
    assert columns["loss.min"].count == 3
    assert '"x.max".last' in columns
    for key in columns:
        three.entries(sort=key)
    assert default_columns(three.columns(), three.entries()) == ["config.lr", "loss.last", "loss.min"]
    assert "config.lr" not in {column.key for column in three.columns("name = run-1")}


def test_the_first_columns_show_the_side_on_which_a_metric_is_good(store: Path, index: Index) -> None:
    make_run(store, "one", series={"accuracy": [0.5, 0.9, 0.8]}, created=LONG_AGO)
    with Catalogue(store, index=index) as catalogue:
        assert default_columns(catalogue.columns(), catalogue.entries()) == ["accuracy.last", "accuracy.max"]


def test_a_metric_of_few_runs_or_of_the_machine_is_no_first_column(store: Path, index: Index) -> None:
    for number in range(5):
        make_run(store, f"judged-{number}", series={"val/loss": [2.0, 1.0]}, created=LONG_AGO)
    make_run(store, "another kind", series={"reward": [1.0]}, created=LONG_AGO)
    make_run(store, "only timed", series={"memory/process_bytes": [1e8], "time/step_ms": [3.0]}, created=LONG_AGO)
    with Catalogue(store, index=index) as catalogue:
        assert default_columns(catalogue.columns(), catalogue.entries()) == ["val/loss.last", "val/loss.min"]
        assert {entry.name: entry.main for entry in catalogue.entries()}["only timed"] is None


def test_asking_for_an_unknown_run_says_so(three: Catalogue) -> None:
    with pytest.raises(NotFound, match="there is no run 'nope'"):
        three.get("nope")
    with pytest.raises(NotFound):
        three.entry("nope")
    assert three.get("Run-9").name == "Run-9"


def test_a_long_first_look_shows_what_it_has_and_lets_others_ask(
    store: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        make_run(store, f"run-{number}")
    monkeypatch.setattr("stepscope.runs.catalogue.catalogue._PUBLISH_S", 0.0)
    catalogue = Catalogue(store, index=index)
    seen: list[tuple[int, int]] = []

    def ask(done: int, total: int) -> None:
        if done == 4:
            asking = threading.Thread(target=lambda: seen.append((len(catalogue.entries()), catalogue.unread)))
            asking.start()
            asking.join(300)

    changes = catalogue.refresh(progress=ask)
    assert (seen, catalogue.unread) == ([(3, 3)], 0)
    assert len(changes.changed) == len(catalogue.entries()) == 6


def test_the_same_question_is_answered_once_until_something_changes(store: Path, index: Index) -> None:
    for number in range(3):
        make_run(store, f"run-{number}", series={"loss": [float(number)]})
    catalogue = Catalogue(store, index=index)
    asked: list[str] = []
    answer = catalogue._answered
    catalogue._answered = lambda *given: (asked.append("again"), answer(*given))[1]  # type: ignore[method-assign]
    for _ in range(3):
        catalogue.refresh()
        assert [entry.name for entry in catalogue.entries("loss < 2", "name", False)] == ["run-0", "run-1"]
    assert asked == ["again"]
    catalogue.entries("loss < 2", "name", False).clear()
    make_run(store, "run-00", series={"loss": [1.5]})
    catalogue.refresh()
    assert [entry.name for entry in catalogue.entries("loss < 2", "name", False)] == ["run-0", "run-00", "run-1"]
    asked.clear()
    for _ in range(2):
        catalogue.entries("age > 1s", "duration")
    assert asked == ["again", "again"]


def test_many_runs_are_queried_through_the_index_in_one_pass(store: Path, tmp_path: Path) -> None:
    for number in range(70):
        make_run(store, f"run-{number}", series={"loss": [number / 70]})
    make_old(store)
    with Catalogue(store, index=Index(tmp_path / "cache")) as catalogue:
        catalogue.refresh()
    with Catalogue(store, index=Index(tmp_path / "cache")) as catalogue:
        found = names(catalogue, "loss.min < 0.05", sort="loss.min", descending=False)
        assert found == ["run-0", "run-1", "run-2", "run-3"]
        assert all(entry.metrics._data is None for entry in catalogue.entries())


# -- small parts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metrics", "main"),
    [
        (("lr", "val/loss", "train/loss", "train/kl_loss"), "train/loss"),
        (("acc", "val_loss", "loss"), "loss"),
        (("val_loss", "acc"), "val_loss"),
        (("system/cpu", "accuracy"), "accuracy"),
        (("lr", "nll"), "nll"),
        (("glossary", "train.loss"), "train.loss"),
        (("system/cpu",), None),
        ((), None),
    ],
)
def test_the_main_metric_is_the_plainest_training_loss(metrics: tuple[str, ...], main: str | None) -> None:
    assert main_metric(metrics) == main


def test_a_goal_makes_a_metric_the_main_one() -> None:
    assert main_metric(("loss", "val/acc"), [MetricRule(time=1, name="val/*", goal="max")]) == "val/acc"


def test_a_spark_has_forty_values_and_gaps_where_nothing_is_finite() -> None:
    import numpy as np

    values = np.arange(4000.0)
    values[100:200] = np.nan
    spark = sparkline(values)
    assert len(spark) == 40
    assert spark[:3] == [49.5, None, 249.5]
    assert sparkline(np.array([])) == []
    assert sparkline(np.array([np.inf, 1.0])) == [None, 1.0]


def test_natural_order() -> None:
    assert sorted(["b", "a10", "A2", "a", "10", "9"], key=natural_key) == ["9", "10", "a", "A2", "a10", "b"]
    assert ordered([3, None, math.nan, True, "x", [], [2]], lambda one: one)[:4] == [True, 3, [2], "x"]
