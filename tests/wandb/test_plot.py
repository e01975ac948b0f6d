from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest


def figure(run: Any, key: str) -> Any:
    [record] = run.media(key)
    return json.loads(run.media_bytes(record))


def test_charts_of_tables_hold_the_columns(wandb: ModuleType, last: Callable[[], Any]) -> None:
    table = wandb.Table(columns=["x", "y", "who"], data=[[2, 20.0, "a"], [1, 10.0, "a"], [1, float("nan"), "b"]])
    with wandb.init(project="p") as run:
        run.log(
            {
                "line": wandb.plot.line(table, "x", "y", stroke="who", title="T"),
                "scatter": wandb.plot.scatter(table, "x", "y"),
                "bar": wandb.plot.bar(table, "who", "x"),
                "preset": wandb.plot_table("wandb/line/v0", table, {"x": "x", "y": "y"}, {"title": "P"}),
                "other": wandb.plot_table("team/own", table, {}),
                "hist": wandb.plot.histogram(wandb.Table(columns=["v"], data=[[v] for v in [1, 1, 2, 9]]), "v"),
                "lines": wandb.plot.line_series([0, 1], [[1, 2], [3, 4]], keys=["m", "n"], xname="epoch"),
            }
        )
    line = figure(last(), "line")
    assert [(trace["name"], trace["x"], trace["y"]) for trace in line["data"]] == [
        ("a", [1, 2], [10.0, 20.0]),
        ("b", [1], [None]),
    ]
    assert line["layout"]["title"] == {"text": "T"}
    assert figure(last(), "scatter")["data"][0]["mode"] == "markers"
    assert figure(last(), "bar")["data"][0]["x"] == ["a", "a", "b"]
    assert figure(last(), "hist")["data"][0]["y"] == [3, 1]
    assert [trace["y"] for trace in figure(last(), "lines")["data"]] == [[1, 2], [3, 4]]
    kinds = {each.key: each.kind for each in last().media()}
    assert kinds["line_table"] == kinds["other"] == "table"
    assert kinds["preset"] == kinds["lines"] == "figure"


def test_curves_and_confusion(wandb: ModuleType, last: Callable[[], Any]) -> None:
    truth = [0, 1, 2, 1, 0, 2]
    scores = np.eye(3)[truth] * 0.6 + 0.1
    with wandb.init(project="p") as run:
        run.log(
            {
                "roc": wandb.plot.roc_curve(truth, scores, labels=["a", "b", "c"], classes_to_plot=[0, 2]),
                "pr": wandb.plot.pr_curve(truth, scores),
                "cm": wandb.plot.confusion_matrix(y_true=truth, preds=[0, 1, 2, 1, 1, 2], class_names=["a", "b", "c"]),
                "probs": wandb.plot.confusion_matrix(probs=scores, y_true=truth),
            }
        )
    roc = figure(last(), "roc")
    assert [(curve["label"], curve["area"]) for curve in roc["curves"]] == [("a", 1.0), ("c", 1.0)]
    assert len(figure(last(), "pr")["curves"]) == 3
    assert figure(last(), "cm") == {"labels": ["a", "b", "c"], "counts": [[1, 1, 0], [0, 2, 0], [0, 0, 2]]}
    assert figure(last(), "probs")["counts"] == [[2, 0, 0], [0, 2, 0], [0, 0, 2]]


def test_a_column_that_is_not_there_is_said_and_the_table_kept(
    wandb: ModuleType, last: Callable[[], Any], capfd: pytest.CaptureFixture[str]
) -> None:
    table = wandb.Table(columns=["x"], data=[[1]])
    with wandb.init(project="p") as run:
        for make in (
            lambda: wandb.plot.line(table, "x", "nope"),
            lambda: wandb.plot.scatter(table, "nope", "x"),
            lambda: wandb.plot.bar(table, "x", "nope"),
            lambda: wandb.plot.histogram(table, "nope"),
        ):
            run.log({"chart": make()})
    assert {each.kind for each in last().media()} == {"table"}
    assert (
        "wandb.plot.line(): the table has no column 'nope' (it has 'x'); only the table is stored"
        in capfd.readouterr().err
    )


def test_mistakes_are_named(wandb: ModuleType) -> None:
    wandb.Table(columns=["x"], data=[[1]])
    for call, words in (
        (lambda: wandb.plot.line([[1]], "x", "y"), "takes a wandb.Table"),
        (lambda: wandb.plot.confusion_matrix(y_true=[0]), "preds= or probs="),
        (lambda: wandb.plot.confusion_matrix(preds=[0]), "needs y_true"),
        (lambda: wandb.plot.line_series([0], [[1], [2]], keys=["a"]), "1 keys"),
    ):
        with pytest.raises(wandb.UsageError, match=words):
            call()
