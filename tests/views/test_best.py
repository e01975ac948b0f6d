from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

from stepscope.records import End, MetricRule
from stepscope.views.context import Context
from stepscope.views.runs import RunsRequest, runs

from .conftest import write_run


def test_the_best_of_all_runs_is_told_where_it_is_known_which_way_is_good(ctx: Context, store: Path) -> None:
    for loss, accuracy in ((0.5, 0.9), (0.2, 0.7), (math.nan, 0.8)):
        write_run(store, series={"loss": [loss, loss], "val/acc": [accuracy], "lr": [loss]}, config={"lr": loss})
    ctx.catalogue.refresh()
    columns = ["loss.last", "loss.min", "val/acc.last", "lr.last", "loss.count", "config.lr", "no such)"]
    page = runs(ctx, RunsRequest(columns=columns, limit=1))
    assert (len(page.rows), page.best) == (1, [0.2, 0.2, 0.9, None, None, None, None])


def test_what_the_person_said_counts_more_than_the_name(ctx: Context, store: Path) -> None:
    rule = MetricRule(time=0.0, name="train/*", goal="max")
    for value in (1.0, 3.0):
        write_run(store, series={"train/loss": [value]}, events=[rule])
    ctx.catalogue.refresh()
    assert runs(ctx, RunsRequest(columns=["train/loss.last"])).best == [3.0]


def test_one_run_or_equal_runs_have_no_best(ctx: Context, store: Path) -> None:
    write_run(store, series={"loss": [1.0]})
    ctx.catalogue.refresh()
    assert runs(ctx, RunsRequest(columns=["loss.last"])).best == [None]
    write_run(store, series={"loss": [1.0]})
    ctx.catalogue.refresh()
    assert runs(ctx, RunsRequest(columns=["loss.last"])).best == [None]


def test_the_best_follows_the_query(ctx: Context, store: Path) -> None:
    for name, value in (("a1", 1.0), ("a2", 2.0), ("b1", 0.1)):
        write_run(store, name, series={"loss": [value]})
    ctx.catalogue.refresh()
    assert runs(ctx, RunsRequest(columns=["loss.last"])).best == [0.1]
    assert runs(ctx, RunsRequest(query='name in ("a1", "a2")', columns=["loss.last"])).best == [1.0]


def test_a_run_that_failed_is_never_the_best(ctx: Context, store: Path) -> None:
    ends: list[tuple[float, Literal["finished", "failed", "stopped"]]] = [
        (0.5, "finished"), (0.4, "finished"), (0.1, "failed"), (0.2, "stopped"),
    ]  # fmt: skip
    for value, status in ends:
        write_run(store, series={"loss": [value]}, end=End(time=0.0, status=status))
    ctx.catalogue.refresh()
    assert runs(ctx, RunsRequest(columns=["loss.last"])).best == [0.4]
