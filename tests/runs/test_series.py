"""A series as a person meets it: arrays, points, slices, tables, and words that help."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from stepscope.errors import MissingExtra, UsageError
from stepscope.runs.points.series import Point, Series

nan = float("nan")


def loss(count: int = 5) -> Series:
    steps = np.arange(count) * 10
    return Series("loss", steps, 100.0 + np.arange(count), 1.0 / (np.arange(count) + 1), run="R1", start=90.0)


def test_points_slices_and_masks() -> None:
    series = loss()
    assert len(series) == 5
    assert series[0] == Point(0, 100.0, 1.0)
    assert series[-1] == Point(40, 104.0, 0.2)
    assert [point.step for point in series[1:3]] == [10, 20]
    assert series[series.values < 0.3].steps.tolist() == [30, 40]
    assert series.between(10, 29).steps.tolist() == [10, 20]
    with pytest.raises(IndexError):
        series[5]


def test_arrays_cannot_be_changed_by_accident() -> None:
    values = np.array([1.0, 2.0])
    series = Series("a", [0, 1], [0.0, 1.0], values)
    with pytest.raises(ValueError, match="read-only"):
        series.values[0] = 5.0
    values[0] = 5.0  # the array one gave stays one's own


def test_integers_beyond_a_float_are_exact_one_by_one() -> None:
    series = Series("n", [0, 1], [0.0, 1.0], [1.0, 2.0**60], exact={1: 2**60 + 1})
    assert series[1].value == 2**60 + 1
    assert [point.value for point in series] == [1.0, 2**60 + 1]
    assert series[1:][0].value == 2**60 + 1


def test_axes() -> None:
    series = loss(3)
    assert series.x().tolist() == [0, 10, 20]
    assert series.x("wall").tolist() == [100.0, 101.0, 102.0]
    assert series.x("relative").tolist() == [10.0, 11.0, 12.0]
    assert series.x(Series("epoch", [0, 20], [0.0, 0.0], [5.0, 6.0]))[[0, 2]].tolist() == [5.0, 6.0]
    with pytest.raises(UsageError, match="x='epoch' is not an axis"):
        series.x("epoch")


def test_downsampling_over_each_axis() -> None:
    series = loss(1000)
    assert series.downsample(100).points == 1000
    assert series.downsample(100, x="relative").x[:2].tolist() == pytest.approx([10.0, 20.0 + 9 / 2])
    backwards = Series("x", series.steps, series.times, -np.arange(1000.0))
    found = series.downsample(10, x=backwards)
    assert found.x[0] < found.x[-1]
    assert found.first[0] == series.values[-1]


def test_smoothing_is_over_all_points_and_read_off_at_the_buckets() -> None:
    chance = np.random.default_rng(0)
    series = Series("a", np.arange(10_000), np.arange(10_000.0), 5 + chance.normal(size=10_000))
    found = series.downsample(50, smoothing=("ema", 0.99))
    assert found.smooth is not None
    whole = series.smooth("ema", 0.99).values
    stretches = zip(found.starts, found.starts + found.count, strict=True)
    np.testing.assert_allclose(found.smooth, [whole[start:end].mean() for start, end in stretches])
    zoomed = series.downsample(50, lo=9_990, hi=9_999, smoothing=("ema", 0.99))
    assert zoomed.smooth is not None
    np.testing.assert_allclose(zoomed.smooth, whole[-10:])
    assert series.downsample(50, smoothing=("none", 0.0)).smooth is None


def test_smoothing_over_an_axis_that_jumps_goes_along_that_axis() -> None:
    series = Series("a", [0, 1, 2], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
    axis = Series("x", [0, 1, 2], [0.0, 0.0, 0.0], [30.0, 10.0, 20.0])
    found = series.downsample(5, x=axis, smoothing=("mean", 2))
    assert found.first.tolist() == [2.0, 3.0, 1.0]
    assert found.smooth is not None
    np.testing.assert_allclose(found.smooth, [2.5, 2.0, 1.0])


def test_tables() -> None:
    frame = loss(2).to_pandas()
    assert list(frame.columns) == ["step", "time", "value"]
    assert frame["value"].tolist() == [1.0, 0.5]
    assert str(frame["time"][1]) == "1970-01-01 00:01:41+00:00"
    polars = loss(2).to_polars()
    assert polars["step"].to_list() == [0, 10]
    assert str(polars["time"][1]) == "1970-01-01 00:01:41+00:00"


def test_a_missing_package_names_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"pip install 'stepscope\[pandas\]'"):
        loss().to_pandas()
    with pytest.raises(MissingExtra, match=r"pip install 'stepscope\[polars\]'"):
        loss().to_polars()


def test_it_says_what_it_is() -> None:
    assert repr(loss()) == ("<Series 'loss' of run R1: 5 points, steps 0 to 40; last 0.2, min 0.2, max 1>")
    assert repr(Series("empty", [], [], [])) == "<Series 'empty': no points>"
    odd = Series("a", [0, 1], [0.0, 1.0], [nan, float("inf")], rank=3)
    assert repr(odd) == "<Series 'a': 2 points, steps 0 to 1; last inf, min nan, max nan; 1 NaN, 1 Inf; rank 3>"


def test_in_a_notebook_names_are_text_and_the_line_is_drawn() -> None:
    html = Series("<script>", np.arange(5), np.arange(5.0), [1.0, nan, 3.0, 2.0, float("inf")])._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<polyline" in html
    assert Series("a", [], [], [])._repr_html_() == "<div><b>a</b> no points<br></div>"


def test_summaries() -> None:
    summary = Series("a", [5, 1, 3], [0.0, 1.0, 2.0], [2.0, nan, 7.0]).summary
    assert (summary.last, summary.last_step) == (2.0, 5)
    assert np.isnan(summary.first)
    assert summary.first_step == 1
    assert (summary.min, summary.min_step, summary.max, summary.max_step) == (2.0, 5, 7.0, 3)
    assert (summary.mean, summary.count, summary.nan, summary.inf) == (4.5, 3, 1, 0)
