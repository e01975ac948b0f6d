"""What runs were set to, as columns: kinds, scales, what is missing, and the metric they are judged by."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stepscope.errors import QueryError
from stepscope.records import End, MetricRule, TagsChange
from stepscope.runs.query.query import Field
from stepscope.views.context import Context
from stepscope.views.parameters.columns import MAX_NAMES, ParameterColumn, column_of, is_log
from stepscope.views.parameters.parameters import Parameters, ParametersRequest, parameters

from .conftest import write_run


def sweep(store: Path, configs: list[dict[str, Any]], **series: list[list[float]]) -> list[str]:
    """Runs one second apart; each keyword is a metric with one list of values per run. Newest last."""
    return [
        write_run(
            store,
            f"run-{number}",
            {key.replace("__", "/"): values[number] for key, values in series.items()},
            config=config,
            created=1000.0 + number,
        )
        for number, config in enumerate(configs)
    ]


def by_key(answer: Parameters) -> dict[str, ParameterColumn]:
    return {column.key: column for column in answer.columns}


def test_columns_hold_every_run_newest_first(ctx: Context, store: Path) -> None:
    configs = [{"lr": 0.1, "opt": "sgd", "aug": True, "n": 3}, {"lr": 0.01, "opt": "adam", "aug": False, "n": 3}]
    ids = sweep(store, configs, val__loss=[[3.0, 1.0, 2.0], [5.0, 4.0]])
    answer = parameters(ctx, ParametersRequest())
    assert (answer.ids, answer.names) == (ids[::-1], ["run-1", "run-0"])
    assert (answer.metric, answer.stat, answer.goal, answer.alike) == ("val/loss", "min", "min", 1)
    columns = by_key(answer)
    assert list(columns) == ["val/loss.min", "config.aug", "config.lr", "config.opt"]
    assert columns["val/loss.min"].values == [4.0, 1.0]
    assert (columns["config.aug"].kind, columns["config.aug"].values) == ("bool", [0.0, 1.0])
    assert (columns["config.opt"].kind, columns["config.opt"].names) == ("text", ["adam", "sgd"])
    assert columns["config.opt"].values == [0.0, 1.0]


def test_what_is_not_set_and_what_is_broken_are_told_apart(ctx: Context, store: Path) -> None:
    sweep(store, [{"lr": 1.0}, {"lr": 2.0, "wd": 0.1}, {"lr": 3.0}], loss=[[1.0], [math.nan], [math.inf]])
    answer = parameters(ctx, ParametersRequest(stat="last"))
    columns = by_key(answer)
    assert (columns["loss.last"].values, columns["loss.last"].broken) == ([None, None, 1.0], [0, 1])
    assert (columns["config.wd"].values, columns["config.wd"].broken) == ([None, 0.1, None], [])
    msgspec.json.encode(answer)


def test_the_metric_is_what_was_given_a_goal_else_what_was_held_out(ctx: Context, store: Path) -> None:
    sweep(store, [{"a": 1}, {"a": 2}], train__loss=[[1.0], [2.0]], val__accuracy=[[0.5], [0.6]])
    assert parameters(ctx, ParametersRequest()).metric == "val/accuracy"
    rule = MetricRule(time=1.0, name="train/loss", goal="max")
    write_run(store, "said", {"train/loss": [1.0], "val/accuracy": [0.1]}, events=[rule], config={"a": 3})
    ctx.catalogue.refresh()
    answer = parameters(ctx, ParametersRequest())
    assert (answer.metric, answer.goal, answer.stat) == ("train/loss", "max", "max")


@pytest.mark.parametrize(
    ("stat", "goal", "used", "value"),
    [
        ("best", None, "last", 2.0),
        ("best", "min", "min", 1.0),
        ("best", "max", "max", 3.0),
        ("mean", None, "mean", 2.0),
    ],
)
def test_an_unknown_way_is_asked_for(ctx: Context, store: Path, stat: str, goal: Any, used: str, value: float) -> None:
    sweep(store, [{"a": 1}, {"a": 2}], odd=[[3.0, 1.0, 2.0]] * 2)
    answer = parameters(ctx, ParametersRequest(metric="odd", stat=stat, goal=goal))
    assert (answer.goal, answer.stat, answer.columns[0].values) == (goal, used, [value, value])


def test_more_metrics_come_as_columns(ctx: Context, store: Path) -> None:
    sweep(store, [{"a": 1}, {"a": 2}], loss=[[1.0], [2.0]], acc=[[0.1, 0.3, 0.2], [0.4]])
    answer = parameters(ctx, ParametersRequest(metric="loss", metrics=["acc", "gone", "loss"]))
    assert list(by_key(answer)) == ["loss.min", "config.a", "acc.max"]
    assert by_key(answer)["acc.max"].values == [0.4, 0.3]


def test_query_chosen_runs_and_the_archive(ctx: Context, store: Path) -> None:
    ids = sweep(store, [{"a": 1}, {"a": 2}, {"a": 3}], loss=[[1.0]] * 3)
    away = write_run(store, "old", config={"a": 9}, events=[TagsChange(time=1.0, add=["archived"])], created=5.0)
    assert parameters(ctx, ParametersRequest(query="config.a > 1")).ids == [ids[2], ids[1]]
    assert away not in parameters(ctx, ParametersRequest()).ids
    assert set(parameters(ctx, ParametersRequest(runs=[ids[0], away])).ids) == {ids[0], away}
    with pytest.raises(QueryError):
        parameters(ctx, ParametersRequest(query="config.a >"))


def test_text_that_names_a_run_is_no_parameter(ctx: Context, store: Path) -> None:
    sweep(store, [{"out": f"/tmp/{n}", "a": n % 2} for n in range(20)])
    answer = parameters(ctx, ParametersRequest())
    assert (list(by_key(answer)), answer.unique) == (["config.a"], ["out"])


def test_no_runs_and_runs_that_are_alike(ctx: Context, store: Path) -> None:
    assert parameters(ctx, ParametersRequest()).columns == []
    sweep(store, [{"a": 1}, {"a": 1}])
    ctx.catalogue.refresh()
    answer = parameters(ctx, ParametersRequest())
    assert (answer.columns, answer.metric, answer.alike, len(answer.ids)) == ([], None, 1, 2)


def test_mixed_kinds_long_texts_and_huge_numbers_are_carried() -> None:
    mixed = column_of(Field("config", "x"), [1, "a", True, [1, 2], "y" * 500])
    assert mixed.kind == "text"
    assert sorted(mixed.names)[:2] == ["1", "1, 2"]
    assert max(map(len, mixed.names)) == 200
    huge = column_of(Field("config", "x"), [10**400, -(10**400), 1])
    assert (huge.values, huge.broken) == ([None, None, 1.0], [0, 1])
    many = column_of(Field("config", "x"), [f"name {n}" for n in range(MAX_NAMES + 7)])
    assert (len(many.names), many.names[-1], many.values[-1]) == (MAX_NAMES + 1, "7 more", float(MAX_NAMES))


@pytest.mark.parametrize(
    ("values", "log"),
    [
        ([1e-4, 1e-3, 1e-2], True),
        ([0.0, 1e-4, 1e-2], True),
        ([32, 64, 128, 256], True),
        ([10, 20, 40, 60, 80], False),
        ([0.1, 0.2, 0.5], False),
        ([-1.0, 1.0, 1000.0], False),
        ([0.0, 0.0], False),
        ([], False),
        ([10 ** (n / 20) for n in range(80)], True),
        ([1.0 + n for n in range(80)], False),
    ],
)
def test_a_log_scale_is_judged_by_how_the_numbers_are_spread(values: list[float], log: bool) -> None:
    assert is_log(values) is log


def test_runs_that_did_not_finish_are_left_out_and_counted(ctx: Context, store: Path) -> None:
    for lr in (0.1, 0.2, 0.3):
        write_run(store, series={"loss": [lr]}, config={"lr": lr})
    failed = write_run(store, series={"loss": [9.0]}, config={"lr": 9.0}, end=End(time=0.0, status="failed"))
    ctx.catalogue.refresh()
    usual = parameters(ctx, ParametersRequest())
    assert (len(usual.ids), usual.unfinished, failed in usual.ids) == (3, 1, False)
    assert len(parameters(ctx, ParametersRequest(unfinished=True)).ids) == 4
    assert parameters(ctx, ParametersRequest(runs=[failed])).ids == [failed]
