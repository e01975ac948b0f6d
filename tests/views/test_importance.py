"""Importance and correlation find effects that were planted, say nothing where there is nothing, and repeat."""

from __future__ import annotations

import math
import random
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.views.context import Context
from stepscope.views.parameters.columns import ParameterColumn
from stepscope.views.parameters.importance import importance
from stepscope.views.parameters.model import fit
from stepscope.views.parameters.parameters import ParametersRequest
from stepscope.views.parameters.rank import draws, ranks, relation

from .conftest import write_run

needs_optuna = pytest.mark.skipif(find_spec("optuna") is None, reason="Optuna is not installed")


def column(values: list[float | None], names: str = "") -> ParameterColumn:
    """A parameter's values; with `names`, indices into them."""
    kind: Any = "text" if names else "number"
    return ParameterColumn("config.x", "x", "config", kind, False, values, list(names), [], 2)


def planted(count: int) -> tuple[list[ParameterColumn], np.ndarray]:
    """Four parameters: a strong one on a log scale, a weak one, names that matter, and one that does not."""
    rng = np.random.default_rng(3)
    rows = rng.uniform(0, 1, (count, 4))
    rows[:, 2] = rng.integers(0, 3, count)
    target = 3 * rows[:, 0] + 0.8 * rows[:, 1] + np.array([0.0, 1.5, 0.2])[rows[:, 2].astype(int)]
    strong, weak, names, none = rows.T.tolist()
    columns = [column([10 ** (6 * x) for x in strong]), column(weak), column(names, "abc"), column(none)]
    return columns, target + 0.1 * rng.standard_normal(count)


@needs_optuna
def test_planted_effects_have_the_share_of_the_variance_that_they_make() -> None:
    columns, target = planted(300)
    model = fit(columns, target)
    assert model.r2 > 0.9
    shares = np.array([9 / 12, 0.64 / 12, np.var([0.0, 1.5, 0.2]), 0.0])
    assert model.importances == pytest.approx(shares / shares.sum(), abs=0.06)
    assert model.importances[3] < 0.005


def test_a_model_explains_nothing_of_noise() -> None:
    rng = np.random.default_rng(1)
    columns = [column(values) for values in rng.uniform(size=(5, 150)).tolist()]
    model = fit(columns, rng.standard_normal(150))
    assert (model.r2 < 0, model.importances, model.effects) == (True, [], [])


@needs_optuna
def test_an_effect_is_what_the_model_expects_at_each_value() -> None:
    columns, target = planted(300)
    strong, _, names, none = fit(columns, target).effects
    low, high = np.interp([10**0.6, 10**5.4], *strong)
    assert high - low == pytest.approx(0.8 * 3, rel=0.15)
    assert names[0].tolist() == [0, 1, 2]
    assert names[1] - names[1][0] == pytest.approx([0.0, 1.5, 0.2], abs=0.25)
    assert np.ptp(none[1]) < 0.2
    assert len(none[0]) == 24


@needs_optuna
def test_a_parameter_that_only_some_runs_have_counts() -> None:
    rng = np.random.default_rng(2)
    momentum: list[float | None] = [rng.uniform() if number % 2 else None for number in range(80)]
    target = np.array([3.0 if value is None else value for value in momentum]) + 0.05 * rng.standard_normal(80)
    found = fit([column(momentum), column(rng.uniform(size=80).tolist())], target)
    assert found.importances[0] > 0.8
    assert len(found.effects[0][0]) == 24


@needs_optuna
def test_the_same_runs_give_the_same_numbers() -> None:
    one, two = (fit(*planted(60)) for _ in range(2))
    assert (one.r2, one.importances) == (two.r2, two.importances)


def test_without_the_packages_correlations_are_left(ctx: Context, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepscope.views.parameters.model.find_spec", lambda name: None)
    sweep(store, 20)
    found = importance(ctx, ParametersRequest())
    assert (found.verdict, found.needed, found.r2) == ("missing", ["Optuna", "scikit-learn"], None)
    assert found.parameters[0].correlation is not None
    assert found.parameters[0].importance is None


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


@pytest.mark.parametrize("count", [12, 30, 80])
@pytest.mark.parametrize("names", [0, 4])
def test_chance_is_as_rare_as_it_says(count: int, names: int) -> None:
    rng = np.random.default_rng(count + names)
    found = []
    for _ in range(100):
        x = rng.integers(0, names, count).astype(float) if names else rng.uniform(size=count)
        one = relation(x, rng.standard_normal(count), draws(count)[:2], names)
        assert one is not None
        found.append(one.chance)
    assert np.mean(np.array(found) < 0.05) <= 0.12
    assert np.mean(np.array(found) < 0.5) > 0.3
    related = relation(x, x + 0.1 * rng.standard_normal(count), draws(count)[:2], names)
    assert related is not None
    assert related.chance < 0.001


def test_the_strongest_of_many_unrelated_parameters_may_be_chance(ctx: Context, store: Path) -> None:
    rng = random.Random(2)
    for number in range(20):
        config = {f"p{at}": rng.random() for at in range(30)} | {"real": rng.random()}
        write_run(store, f"run-{number}", config=config, series={"loss": [config["real"] + 0.1 * rng.random()]})
    found = importance(ctx, ParametersRequest())
    likely = [one.key for one in found.parameters if one.chance is not None and one.chance < 0.05]
    assert likely == ["config.real"]
    # The interval alone would have colored some of the others.
    others = [(one.low, one.high) for one in found.parameters if one.key != "config.real"]
    assert any(low is not None and high is not None and (low > 0 or high < 0) for low, high in others)


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


@needs_optuna
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
    ctx.catalogue.refresh()
    assert importance(ctx, ParametersRequest()) is not first


def test_few_runs_no_effect_and_nothing_at_all_are_said(ctx: Context, store: Path) -> None:
    assert importance(ctx, ParametersRequest()).verdict == "none"
    sweep(store, 6)
    ctx.catalogue.refresh()
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
