"""Formulas over metrics: what they mean, where a wrong one is wrong, and that a chart draws them like any metric."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.errors import NotFound, QueryError, UsageError
from stepscope.runs.points.series import Series
from stepscope.views.charts import SeriesRequest
from stepscope.views.context import Context
from stepscope.views.formula.evaluate import Column, Names, evaluate
from stepscope.views.formula.parse import parse_formula
from stepscope.views.formula.series import FormulaRequest, check_formula
from stepscope.views.series import series, wanted_lines

from .conftest import write_run

SERIES = {
    "loss": Series("loss", [0, 1, 2, 3], [0.0, 1.0, 2.0, 3.0], [4.0, 2.0, 1.0, 0.5]),
    "val/acc": Series("val/acc", [1, 3], [1.0, 3.0], [0.5, 0.75]),
    "a-b": Series("a-b", [0, 1, 2, 3], [0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 2.0, 2.0]),
    "odd": Series("odd", [0, 1, 2], [0.0, 1.0, 2.0], [math.nan, 2.0, 3.0]),
}
NAMES = Names(frozenset(SERIES), {"lr": 0.1, "model/width": 8, "baseline": 2.0, "name": "x"}, SERIES.__getitem__)


def worth(text: str) -> Any:
    value = evaluate(parse_formula(text), NAMES)
    return value.values.tolist() if isinstance(value, Column) else value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 - val/acc", [0.5, 0.25]),
        ("loss / baseline", [2.0, 1.0, 0.5, 0.25]),
        ("loss/baseline", [2.0, 1.0, 0.5, 0.25]),
        ("loss/2", [2.0, 1.0, 0.5, 0.25]),
        ("val/acc/baseline", [0.25, 0.375]),
        ("-loss + 1", [-3.0, -1.0, 0.0, 0.5]),
        ("2 + 3 * 4 - 6 / 2", 11.0),
        ("2 ^ 3 ^ 2", 512.0),
        ("-2 ** 2", -4.0),
        ("7 % 4", 3.0),
        ("(1 + 2) * 3", 9.0),
        ("1e-2 * 100", 1.0),
        ("config.lr * 10", 1.0),
        ("model.width / model/width", 1.0),
        ('"a-b" * 2', [2.0, 2.0, 4.0, 4.0]),
        ("loss - val/acc", [1.5, -0.25]),
        ("ema(loss, 0) / baseline", [2.0, 1.0, 0.5, 0.25]),
        ("loss / first(loss)", [1.0, 0.5, 0.25, 0.125]),
        ("max(loss) - min(loss)", 3.5),
        ("max(loss, 1.5)", [4.0, 2.0, 1.5, 1.5]),
        ("clip(loss, 1, 2)", [2.0, 2.0, 1.0, 1.0]),
        ("cummin(loss)", [4.0, 2.0, 1.0, 0.5]),
        ("cumsum(loss)", [4.0, 6.0, 7.0, 7.5]),
        ("step(val/acc)", [1.0, 3.0]),
        ("mean(odd)", 2.5),
        ("log(exp(loss))", [4.0, 2.0, 1.0, 0.5]),
        ("rolling(loss, 1)", [4.0, 2.0, 1.0, 0.5]),
    ],
)
def test_means_what_it_says(text: str, expected: Any) -> None:
    assert worth(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("", 0, "expected a metric"),
        ("1 -", 3, "found the end"),
        ("loss loss", 5, "expected an operator"),
        ("(loss", 0, "never closed"),
        ("ema(loss", 3, "never closed"),
        ("ema(loss)", 0, "takes 2 arguments, not 1"),
        ("clip(loss, 1)", 0, "takes 3 arguments, not 2"),
        ("foo(loss)", 0, "no function 'foo'"),
        ('1 + "val', 4, "quote is never closed"),
        ("loss @ 2", 5, "'@' has no meaning"),
        ("1 + * 2", 4, "found '*'"),
        ("__import__('os')", 0, "no function '__import__'"),
        ("(" * 60 + "1" + ")" * 60, 40, "nests deeper"),
        ("-" * 60 + "1", 40, "nests deeper"),
        ("1+" * 300 + "1", 60, "characters"),
    ],
)
def test_a_wrong_one_points_at_the_character(text: str, position: int, words: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_formula(text)
    assert words in caught.value.message
    assert caught.value.position == position


def test_names_that_the_run_lacks_and_wrong_arguments_are_refused() -> None:
    with pytest.raises(NotFound, match="'speed'"):
        worth("loss / speed")
    with pytest.raises(NotFound, match="'name'"):
        worth("name + 1")  # a text in the config is not a number
    with pytest.raises(UsageError, match="ema needs a metric"):
        worth("ema(3, 0.5)")
    with pytest.raises(UsageError, match="not another metric"):
        worth("ema(loss, loss)")


def test_one_nan_stays_one_nan_and_a_division_by_zero_is_not_an_error() -> None:
    assert np.isnan(worth("odd * 2")).tolist() == [True, False, False]
    assert worth("loss / 0") == [math.inf] * 4


def test_a_chart_draws_a_formula_over_any_axis(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"acc": [0.5, 0.75, 1.0], "epoch": [1.0, 2.0, 3.0]})
    request = SeriesRequest(runs=[run], keys=["= 1 - acc", "acc"], x="= epoch * 2")
    drawn = {one.found.name: one for one in wanted_lines(ctx, request, series(ctx, SeriesRequest(runs=[], keys=[])))}
    assert drawn["= 1 - acc"].found.values.tolist() == [0.5, 0.25, 0.0]
    axis = drawn["= 1 - acc"].axis
    assert axis is not None
    assert axis.values.tolist() == [2.0, 4.0, 6.0]


def test_a_wrong_formula_leaves_the_other_panels_alone(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"acc": [0.5, 0.75]})
    answer = series(ctx, SeriesRequest(runs=[run], keys=["= 1 -", "acc", "= 0.9"]))
    assert len(answer.lines) == 2
    assert answer.missing[0].startswith("= 1 -: expected a metric")


def test_a_formula_is_checked_while_it_is_typed(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"acc": [0.5]})
    ctx.catalogue.refresh()
    assert check_formula(ctx, FormulaRequest("= 1 - acc", [run])).error is None
    wrong = check_formula(ctx, FormulaRequest("= 1 - acx", [run]))
    assert (wrong.position, wrong.error) == (
        6,
        "none of the runs has a metric or a config number 'acx'; did you mean acc?",
    )
    assert check_formula(ctx, FormulaRequest("1 - (", [])).position == 5
