"""Importance and correlation find effects that were planted, say nothing where there is nothing, and repeat."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.views.context import Context
from stepscope.views.parameters.forest import grow, importances, partial
from stepscope.views.parameters.importance import importance
from stepscope.views.parameters.parameters import ParametersRequest
from stepscope.views.parameters.rank import draws, ranks, relation

from .conftest import write_run


def planted(count: int, noise: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Four columns: a strong number, a weak one, names that matter, and one that does not."""
    rng = np.random.default_rng(3)
    rows = rng.uniform(0, 1, (count, 4))
    rows[:, 2] = rng.integers(0, 3, count)
    target = 3 * rows[:, 0] + 0.8 * rows[:, 1] + np.array([0.0, 1.5, 0.2])[rows[:, 2].astype(int)]
    return rows, target + noise * rng.standard_normal(count)


def test_a_forest_orders_planted_effects_and_measures_itself() -> None:
    rows, target = planted(300)
    forest = grow(rows, target, {2: 3})
    assert forest.r2 > 0.9
    found = importances(forest)
    assert np.argsort(-found.mean).tolist() == [0, 2, 1, 3]
    # Shuffling a parameter that adds its own variance to the metric costs about twice that variance.
    share = np.var(3 * rows[:, 0]) / target.var()
    assert found.mean[0] == pytest.approx(2 * share, rel=0.25)
    assert abs(found.mean[3]) < 0.01
    assert (found.error < 0.1 * found.mean[0]).all()


def test_a_forest_explains_nothing_of_noise() -> None:
    rng = np.random.default_rng(1)
    assert grow(rng.uniform(size=(150, 5)), rng.standard_normal(150), {}).r2 < 0.05


def test_partial_dependence_follows_the_effect() -> None:
    rows, target = planted(300)
    forest = grow(rows, target, {2: 3})
    grid, names = np.array([0.1, 0.5, 0.9]), np.array([0.0, 1.0, 2.0])
    line, _, by_name, flat = partial(forest, [grid, grid, names, grid])
    assert line[2] - line[0] == pytest.approx(0.8 * 3, rel=0.15)
    assert by_name - by_name[0] == pytest.approx([0.0, 1.5, 0.2], abs=0.2)
    assert np.ptp(flat) < 0.1


def test_the_same_runs_give_the_same_numbers() -> None:
    rows, target = planted(60)
    one, two = (importances(grow(rows, target, {2: 3})) for _ in range(2))
    assert (one.mean == two.mean).all()


def slow_spearman(x: list[float], y: list[float]) -> float:
    """By its definition, with loops."""

    def place(value: float, values: list[float]) -> float:
        below, equal = sum(other < value for other in values), sum(other == value for other in values)
        return below + (equal + 1) / 2

    a, b = [place(v, x) for v in x], [place(v, y) for v in y]
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    top = sum((p - mean_a) * (q - mean_b) for p, q in zip(a, b, strict=True))
    return top / math.sqrt(sum((p - mean_a) ** 2 for p in a) * sum((q - mean_b) ** 2 for q in b))


def test_correlation_is_spearmans_with_ties() -> None:
    rng = random.Random(4)
    x = [float(rng.randint(0, 5)) for _ in range(40)]
    y = [value**3 + rng.gauss(0, 30) for value in x]
    found = relation(np.array(x), np.array(y), draws(40))
    assert found is not None
    assert found.value == pytest.approx(slow_spearman(x, y))
    assert -1 <= found.low < found.value < found.high <= 1


def test_the_interval_holds_nothing_for_unrelated_and_excludes_it_for_related() -> None:
    rng = np.random.default_rng(0)
    x, noise = rng.uniform(size=200), rng.standard_normal(200)
    unrelated = relation(x, noise, draws(200))
    related = relation(x, x + 0.2 * noise, draws(200))
    assert unrelated is not None
    assert unrelated.low < 0 < unrelated.high
    assert related is not None
    assert related.low > 0.5
    # Of a correlation of ranks near 0 the standard error is about 1 / sqrt(n - 1).
    assert unrelated.high - unrelated.low == pytest.approx(4 / math.sqrt(199), rel=0.2)


def test_names_have_a_ratio_without_a_sign() -> None:
    rng = np.random.default_rng(0)
    names = rng.integers(0, 4, 400).astype(float)
    by_name = relation(
        names, np.array([0.0, 3.0, 1.0, 0.0])[names.astype(int)] + rng.standard_normal(400), draws(400), 4
    )
    by_chance = relation(names, rng.standard_normal(400), draws(400), 4)
    assert by_name is not None
    assert 0.6 < by_name.low < by_name.high < 0.95
    assert by_chance is not None
    assert by_chance.value < 0.15


def test_what_does_not_vary_has_no_correlation() -> None:
    flat, up = np.ones(5), np.arange(5.0)
    assert relation(flat, up, draws(5)) is None
    assert relation(up, flat, draws(5)) is None
    assert relation(up[:2], up[:2], draws(2)) is None
    assert ranks(np.array([2.0, 1.0, 2.0])).tolist() == [2.5, 1.0, 2.5]


def sweep(store: Path, count: int, effect: bool = True) -> None:
    rng = random.Random(2)
    for number in range(count):
        config: dict[str, Any] = {"lr": 10 ** rng.uniform(-4, -1), "opt": rng.choice("abc"), "seed": number % 5}
        if number % 3 == 0:
            config["warm"] = number
        loss = 1 + (math.log10(config["lr"]) + 2.5) ** 2 + (0.5 if config["opt"] == "a" else 0) if effect else 0.0
        series = [math.nan if number == 1 else loss + rng.gauss(0, 0.05)]
        write_run(store, f"r{number}", {"val/loss": series}, config=config, created=1000.0 + number)


def test_the_view_names_what_matters_first(ctx: Context, store: Path) -> None:
    sweep(store, 40)
    found = importance(ctx, ParametersRequest(stat="last"))
    assert (found.verdict, found.runs, found.left_out) == ("sound", 39, 1)
    assert found.r2 is not None
    assert found.r2 > 0.5
    first = found.parameters[0]
    assert (first.label, first.runs) == ("lr", 39)
    assert first.importance is not None
    assert first.importance > 0.5
    assert first.effect is not None
    assert 3 < len(first.effect.x) == len(first.effect.y) <= 24
    low = first.effect.x[first.effect.y.index(min(first.effect.y))]
    assert 5e-4 < low < 2e-2  # the best learning rate is at 10 ** -2.5
    warm = next(one for one in found.parameters if one.label == "warm")
    assert warm.runs == 14
    assert next(one for one in found.parameters if one.label == "opt").signed is False


def test_the_answer_is_kept_until_a_run_changes(ctx: Context, store: Path) -> None:
    sweep(store, 12)
    first = importance(ctx, ParametersRequest())
    assert importance(ctx, ParametersRequest()) is first
    write_run(store, "more", {"val/loss": [1.0]}, config={"lr": 1.0, "opt": "a", "seed": 1})
    ctx.look()
    assert importance(ctx, ParametersRequest()) is not first


def test_few_runs_no_effect_and_nothing_at_all_are_said(ctx: Context, store: Path) -> None:
    assert importance(ctx, ParametersRequest()).verdict == "none"
    sweep(store, 6)
    ctx.look()
    few = importance(ctx, ParametersRequest())
    assert (few.verdict, few.r2, few.parameters[0].importance) == ("few", None, None)
    assert few.parameters[0].correlation is not None


def test_no_effect_gives_no_importance(ctx: Context, store: Path) -> None:
    sweep(store, 30, effect=False)
    nothing = importance(ctx, ParametersRequest())
    assert nothing.verdict == "nothing"
    assert nothing.r2 is not None
    assert nothing.r2 <= 0
    assert all(one.importance is None for one in nothing.parameters)
