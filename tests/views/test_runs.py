"""The table of runs: filter, sort, group, a window of rows, and cells that JSON can carry."""

from __future__ import annotations

import json
import math
from pathlib import Path

import msgspec
import numpy as np
import pytest

from stepscope.errors import QueryError
from stepscope.records import Finding, FindingEvent, Severity, TagsChange
from stepscope.runs.read.folder import open_run
from stepscope.views.context import Context
from stepscope.views.diagnosis import diagnosis_of
from stepscope.views.group_means import GroupMean, mean_of
from stepscope.views.runs import ColumnsRequest, RunGroup, RunsRequest, cell, columns, runs

from .conftest import write_run


@pytest.fixture
def three(store: Path) -> list[str]:
    """Three runs, one second apart."""
    return [
        write_run(store, f"run-{n}", {"loss": [2.0, 1.0 / n]}, config={"lr": lr, "opt": opt}, created=1000.0 + n)
        for n, lr, opt in ((1, 0.1, "adam"), (2, 0.01, "sgd"), (3, 0.001, "adam"))
    ]


def test_the_newest_run_comes_first_with_the_cells_asked_for(ctx: Context, three: list[str]) -> None:
    page = runs(ctx, RunsRequest(columns=["config.lr", "loss.min", "status"], ids=10))
    assert [(row.name, row.cells) for row in page.rows] == [
        ("run-3", [0.001, 1.0 / 3, "finished"]),
        ("run-2", [0.01, 0.5, "finished"]),
        ("run-1", [0.1, 1.0, "finished"]),
    ]
    assert (page.matched, page.total, page.ids) == (3, 3, three[::-1])
    assert runs(ctx, RunsRequest(limit=1, ids=2)).ids == three[:0:-1]
    assert [runs(ctx, RunsRequest(ids=count)).ids for count in (0, -1)] == [[], []]


def test_a_query_a_sort_and_a_window(ctx: Context, three: list[str]) -> None:
    page = runs(ctx, RunsRequest(query="config.lr < 0.05", sort="loss.min", descending=False, limit=1))
    assert ([row.name for row in page.rows], page.matched, page.total) == (["run-3"], 2, 3)
    after = runs(ctx, RunsRequest(query="config.lr < 0.05", sort="loss.min", descending=False, limit=1, offset=1))
    assert [row.name for row in after.rows] == ["run-2"]
    assert runs(ctx, RunsRequest(offset=-5, limit=-5)).rows == []


def test_groups_carry_their_value_and_runs(ctx: Context, three: list[str]) -> None:
    page = runs(ctx, RunsRequest(group_by="config.opt"))
    assert page.groups == [
        RunGroup(value="adam", count=2, ids=[three[2], three[0]]),
        RunGroup(value="sgd", count=1, ids=[three[1]]),
    ]
    assert [row.name for row in page.rows] == ["run-3", "run-1", "run-2"]


def test_a_group_tells_the_mean_of_its_runs_metrics_and_how_far_they_lie_apart(ctx: Context, three: list[str]) -> None:
    page = runs(ctx, RunsRequest(group_by="config.opt", columns=["config.lr", "loss.min", "loss.max", "never.min"]))
    assert page.groups is not None
    adam, sgd = page.groups
    both = np.array([1.0, 1.0 / 3])
    lr, least, most, never = adam.means
    assert (lr, most, never) == (None, GroupMean(mean=2.0, sd=0.0, count=2), None)
    assert least is not None
    assert (least.mean, least.sd, least.count) == pytest.approx((both.mean(), both.std(ddof=1), 2))
    assert sgd.means == [None, GroupMean(mean=0.5, sd=None, count=1), GroupMean(mean=2.0, sd=None, count=1), None]


def test_a_run_that_broke_is_counted_not_averaged(ctx: Context, store: Path) -> None:
    for n, last in enumerate((1.0, math.nan, 3.0, -math.inf)):
        write_run(store, f"run-{n}", {"loss": [last]}, created=1000.0 + n)
    page = runs(ctx, RunsRequest(group_by="project", columns=["loss.last"]))
    assert page.groups is not None
    (mean,) = page.groups[0].means
    assert mean is not None
    assert (mean.mean, mean.sd, mean.count, mean.odd) == pytest.approx((2.0, math.sqrt(2), 2, 2))


@pytest.mark.parametrize("values", [[1.7e308] * 4, [1.7e308, -1.7e308], [0.0, -0.0], [5e-324, 5e-324]])
def test_the_largest_and_the_smallest_numbers_have_a_mean_that_json_can_carry(values: list[float]) -> None:
    found = mean_of(values)
    assert found is not None
    assert math.isfinite(found.mean)
    assert found.sd is None or math.isfinite(found.sd)
    assert msgspec.json.decode(msgspec.json.encode(found), type=GroupMean) == found


def test_runs_of_one_millisecond_come_newest_first(ctx: Context, store: Path) -> None:
    made = [write_run(store, f"run-{n}", {"loss": [1.0]}, created=1000 + n / 100_000) for n in range(12)]
    assert runs(ctx, RunsRequest(ids=99)).ids == made[::-1]
    assert runs(ctx, RunsRequest(sort="loss.last", descending=False, ids=99)).ids == made[::-1]


def test_a_column_of_an_old_link_is_empty_not_an_error(ctx: Context, three: list[str]) -> None:
    page = runs(ctx, RunsRequest(columns=["config.gone", "never.logged.min", "((", ""]))
    assert page.rows[0].cells == [None, None, None, None]


def test_a_wrong_query_says_where(ctx: Context, three: list[str]) -> None:
    with pytest.raises(QueryError) as caught:
        runs(ctx, RunsRequest(query="config.lr <"))
    assert caught.value.position == 11


def test_archived_runs_are_out_of_the_way(ctx: Context, store: Path) -> None:
    write_run(store, "old", events=[TagsChange(time=1.0, add=["archived"])])
    write_run(store, "new")
    assert [row.name for row in runs(ctx, RunsRequest()).rows] == ["new"]
    assert len(runs(ctx, RunsRequest(archived=True)).rows) == 2


def test_columns_begin_with_config_that_differs_and_the_main_metric(ctx: Context, three: list[str]) -> None:
    found = columns(ctx, ColumnsRequest())
    assert found.default == ["config.lr", "config.opt", "loss.last", "loss.min"]
    by_key = {column.key: column for column in found.columns}
    assert (by_key["config.lr"].type, by_key["config.lr"].distinct, by_key["config.opt"].distinct) == ("number", 3, 2)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"), (2**70, str(2**70)), (["a", 1], "a, 1"),
     ({"a": 1}, "{'a': 1}"), (True, True), (None, None), (-0.0, -0.0), (5e-324, 5e-324)],
)  # fmt: skip
def test_any_value_becomes_a_cell(value: object, shown: object) -> None:
    assert cell(value) == shown


def test_nan_and_infinity_travel_as_words(ctx: Context, store: Path) -> None:
    write_run(store, "odd", {"loss": [1.0, math.nan], "up": [math.inf]}, config={"big": 2**60})
    page = runs(ctx, RunsRequest(columns=["loss.last", "loss.min", "up.last", "config.big"]))
    text = msgspec.json.encode(page)
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not valid JSON"))
    assert page.rows[0].cells == ["NaN", 1.0, "Infinity", str(2**60)]


def test_a_row_counts_errors_apart_from_warnings(ctx: Context, store: Path) -> None:
    def found(severity: Severity) -> FindingEvent:
        return FindingEvent(time=1.0, finding=Finding(rule="x.y", severity=severity, message=severity))

    write_run(store, "warned", {"loss": [1.0]}, events=[found("warning"), found("info")], created=1.0)
    write_run(store, "broken", {"loss": [1.0]}, events=[found("error"), found("warning")], created=2.0)
    rows = runs(ctx, RunsRequest()).rows
    assert [(row.name, row.errors, row.findings) for row in rows] == [("broken", 1, 2), ("warned", 0, 1)]


def test_a_row_counts_what_was_found_in_the_stored_run_once_it_was_diagnosed(ctx: Context, store: Path) -> None:
    write_run(store, "diverged", {"loss": [1.0, 0.5, math.nan, *[math.nan] * 20]}, created=1.0)
    [before] = runs(ctx, RunsRequest()).rows
    assert (before.errors, before.findings) == (0, 0)
    found = diagnosis_of(open_run(ctx.catalogue.entries("")[0].path)).findings
    grave = [one.severity for one in found if one.severity != "info"]
    assert grave != []
    [after] = runs(ctx, RunsRequest()).rows
    assert (after.errors, after.findings) == (grave.count("error"), len(grave))
