"""A heading's menu: values with their counts, statistics of numbers, and runs without a value."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from stepscope.errors import QueryError
from stepscope.views.column_values import ColumnRequest, ValueCount, column_values
from stepscope.views.context import Context

from .conftest import write_run


@pytest.fixture(autouse=True)
def some_runs(ctx: Context, store: Path) -> None:
    for number, loss in enumerate([1.0, 2.0, 3.0, math.nan]):
        config = {"lr": 0.1 if number < 3 else 0.2, "opt": "adam"} if number else {}
        write_run(store, f"run-{number}", {"loss": [loss]}, config=config, tags=["a", "b"] if number < 2 else [])
    ctx.catalogue.refresh()


def test_values_are_counted_and_what_is_missing_too(ctx: Context) -> None:
    found = column_values(ctx, ColumnRequest("config.lr"))
    assert (found.runs, found.missing, found.distinct) == (4, 1, 2)
    assert found.values == [ValueCount(0.1, 2), ValueCount(0.2, 1)]


def test_each_tag_of_a_run_counts(ctx: Context) -> None:
    assert column_values(ctx, ColumnRequest("tags")).values == [ValueCount("a", 2), ValueCount("b", 2)]


def test_statistics_are_of_the_finite_numbers(ctx: Context) -> None:
    found = column_values(ctx, ColumnRequest("loss.last"))
    assert found.stats is not None
    assert (found.stats.min, found.stats.max, found.stats.mean, found.stats.median) == (1.0, 3.0, 2.0, 2.0)
    assert (sum(found.stats.bins), found.odd) == (3, 1)
    assert column_values(ctx, ColumnRequest("config.opt")).stats is None


def test_only_runs_that_match_count_and_a_wrong_column_is_refused(ctx: Context) -> None:
    assert column_values(ctx, ColumnRequest("config.lr", query="tag = a")).runs == 2
    with pytest.raises(QueryError):
        column_values(ctx, ColumnRequest("git.nothing"))
