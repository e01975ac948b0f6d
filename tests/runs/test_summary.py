"""Summaries: NaN-aware, in order, and the same however the points came."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings, strategies as st

from stepscope.records import MetricRule
from stepscope.runs.points.summary import ColumnSummaries, MetricSummary, join, rule_for, summarise_points

nan, inf = float("nan"), float("inf")


def plain(steps: list[int], values: list[float]) -> MetricSummary:
    """By the book."""
    order = sorted(range(len(steps)), key=lambda at: steps[at])
    finite = [(values[at], steps[at]) for at in range(len(steps)) if np.isfinite(values[at])]
    if not steps:
        return MetricSummary()
    low = min(finite, key=lambda pair: pair[0], default=(nan, None))
    high = max(finite, key=lambda pair: pair[0], default=(nan, None))
    return MetricSummary(
        last=values[order[-1]],
        first=values[order[0]],
        last_step=steps[order[-1]],
        first_step=steps[order[0]],
        min=low[0],
        min_step=low[1],
        max=high[0],
        max_step=high[1],
        mean=float(np.mean([value for value, _ in finite])) if finite else nan,
        count=len(steps),
        nan=sum(math.isnan(value) for value in values),
        inf=sum(math.isinf(value) for value in values),
    )


def same(a: MetricSummary, b: MetricSummary) -> bool:
    exact = [name for name in MetricSummary.__struct_fields__ if name != "mean"]
    return repr([getattr(a, name) for name in exact]) == repr([getattr(b, name) for name in exact]) and bool(
        np.isclose(a.mean, b.mean, rtol=1e-9, atol=1e-12, equal_nan=True)
    )


point = st.tuples(st.integers(-9, 9), st.one_of(st.floats(-100, 100), st.sampled_from([nan, inf, -inf])))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(point, max_size=8), max_size=5))
def test_pieces_add_up_to_the_whole(pieces: list[list[tuple[int, float]]]) -> None:
    steps = [step for piece in pieces for step, _ in piece]
    values = [value + 0.0 for piece in pieces for _, value in piece]
    expected = plain(steps, values)
    table = ColumnSummaries(1)
    parts = []
    for piece in pieces:
        own_steps = np.array([step for step, _ in piece], dtype=np.int64)
        own_values = np.array([value + 0.0 for _, value in piece], dtype=np.float64)
        table.add(own_steps, own_values.reshape(-1, 1))
        parts.append(summarise_points(own_steps, own_values))
    assert same(table.summary(0), expected)
    assert same(join(parts), expected)


def test_one_nan_does_not_hide_the_rest() -> None:
    summary = summarise_points(np.arange(3), np.array([2.0, nan, 4.0]))
    assert (summary.min, summary.max, summary.mean, summary.nan, summary.finite) == (2.0, 4.0, 3.0, 1, 2)


def test_a_diverged_run_says_nan_at_the_end() -> None:
    assert np.isnan(summarise_points(np.arange(2), np.array([2.0, nan])).last)


def test_the_mean_of_huge_values_is_finite() -> None:
    assert summarise_points(np.arange(3), np.full(3, 1.5e308)).mean == 1.5e308
    parts = [summarise_points(np.arange(2), np.full(2, value)) for value in (1.5e308, -1.5e308)]
    assert join(parts).mean == 0.0
    assert abs(summarise_points(np.arange(4), np.array([1.5e308] * 2 + [-1.5e308] * 2)).mean) < 1e300


def test_rules_choose() -> None:
    summary = summarise_points(np.arange(3), np.array([3.0, 1.0, 2.0]))
    chosen = [summary.by_rule(rule) for rule in (None, "last", "min", "max", "mean", "first", "none")]
    assert chosen == [2.0, 2.0, 1.0, 3.0, 2.0, 3.0, None]
    assert MetricSummary().by_rule("min") is None


def test_a_rule_of_its_own_beats_one_with_a_star_and_a_later_an_earlier() -> None:
    rules = [
        MetricRule(time=1.0, name="loss", summary="min"),
        MetricRule(time=2.0, name="lo*", summary="max"),
        MetricRule(time=3.0, name="loss", summary="mean"),
        MetricRule(time=4.0, name="*", summary="first"),
    ]
    chosen = {name: rule_for(name, rules) for name in ("loss", "loot", "other")}
    assert {name: rule.summary for name, rule in chosen.items() if rule} == {
        "loss": "mean",
        "loot": "first",
        "other": "first",
    }
    assert rule_for("other", rules[:3]) is None
