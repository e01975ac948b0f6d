"""Counts that are kept run by run say what looking at all runs would."""

from __future__ import annotations

import math
import random

from stepscope.runs.catalogue.columns import MOST_DISTINCT, RunColumn, default_columns, run_columns
from stepscope.runs.catalogue.entry import Head, RunEntry
from stepscope.runs.catalogue.metric_stats import MetricStats
from stepscope.runs.catalogue.run_counts import RunCounts
from stepscope.runs.catalogue.selection import newest_goals

VALUES = [0.1, 1, True, "adam", "SGD", None, ["a", 1], {"deep": 1}, math.inf]


def a_run(luck: random.Random, number: int) -> RunEntry:
    names = tuple(name for name in ("loss", "acc", "lr") if luck.random() < 0.7)
    head = Head(
        id=f"{number:026}", name=f"run-{number % 7}", project=luck.choice("pqr"), status="finished", created=number,
        ended=luck.choice([None, 5.0]), duration_s=luck.choice([1.0, 2.0]), tags=luck.sample(["a", "b"], 1), notes="",
        group=None, host=luck.choice(["", "gpu-7"]), user="ann", commit=None, branch=None,
        config={key: luck.choice(VALUES) for key in ("lr", "opt", "depth") if luck.random() < 0.6}, summary={},
        main=luck.choice([None, "loss", "acc"]), spark=[], findings=luck.randrange(2), dropped=0, version=1,
        goals={"acc": "max"} if luck.random() < 0.2 else {},
    )  # fmt: skip
    return RunEntry("x", head, MetricStats(names, {name: at for at, name in enumerate(names)}, head.id, lambda _: b""))


def by_key(columns: list[RunColumn]) -> list[RunColumn]:
    return sorted(columns, key=lambda one: one.key)


def test_after_any_runs_came_and_went_the_columns_are_those_of_the_rest() -> None:
    luck = random.Random(4)
    counts, there = RunCounts(), list[RunEntry]()
    for number in range(300):
        if there and luck.random() < 0.4:
            gone = there.pop(luck.randrange(len(there)))
            counts.remove(gone.head, gone.metrics.names)
        else:
            there.append(a_run(luck, number))
            counts.add(there[-1].head, there[-1].metrics.names)
        projects = luck.choice([None, {"p"}, {"q", "r"}, {"nowhere"}])
        own = [one for one in there if projects is None or one.project in projects]
        assert by_key(counts.columns(projects)) == by_key(run_columns(own))
        assert counts.runs(projects) == len(own)
        assert counts.projects() == sorted({one.project for one in there})
    for projects in (None, {"p"}):
        own = [one for one in there if projects is None or one.project in projects]
        columns = run_columns(own)
        said = {name: goal for name, (_, goal) in newest_goals(own, {"loss", "acc"}).items()}
        found = counts.default_columns(columns, lambda _, said=said: said, projects)  # type: ignore[misc]
        assert sorted(found) == sorted(default_columns(columns, own))
    assert counts.known_names() >= {"loss", "acc", "lr", "config.opt"}


def test_values_are_counted_up_to_a_thousand() -> None:
    luck, counts = random.Random(1), RunCounts()
    for number in range(MOST_DISTINCT + 50):
        run = a_run(luck, number)
        run.head.config = {"seed": number}
        counts.add(run.head, ())
    [column] = [one for one in counts.columns() if one.key == "config.seed"]
    assert (column.distinct, column.count, column.type) == (MOST_DISTINCT, MOST_DISTINCT + 50, "number")
