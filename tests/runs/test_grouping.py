"""Seeds as one line with a band."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepscope.errors import NotFound
from stepscope.runs.points.grouping import band, group_series
from stepscope.runs.points.series import Series

nan, inf = float("nan"), float("inf")


def series(values: list[float], steps: list[int] | None = None) -> Series:
    steps = steps if steps is not None else list(range(len(values)))
    return Series("loss", steps, np.arange(len(values)) * 1.0, values)


class Run:
    def __init__(self, config: dict[str, Any], found: Series | None) -> None:
        self.config = config
        self._found = found

    def series(self, name: str) -> Series:
        if self._found is None:
            raise NotFound("none")
        return self._found


def test_a_band_over_three_seeds() -> None:
    found = band([series([1.0, 2.0]), series([3.0, 4.0]), series([8.0, 6.0])])
    assert found.steps.tolist() == [0, 1]
    assert found.mean.tolist() == [4.0, 4.0]
    assert found.low.tolist() == [1.0, 2.0]
    assert found.high.tolist() == [8.0, 6.0]
    assert found.median.tolist() == [3.0, 4.0]
    np.testing.assert_allclose(found.std, [np.std([1, 3, 8], ddof=1), 2.0])
    assert found.count.tolist() == [3, 3]


def test_values_that_are_not_finite_are_left_out_of_the_band() -> None:
    found = band([series([nan, nan, 1.0]), series([2.0, inf, 3.0])])
    np.testing.assert_array_equal(found.mean, [2.0, nan, 2.0])
    np.testing.assert_array_equal(found.median, [2.0, nan, 2.0])
    np.testing.assert_array_equal(found.low, [2.0, nan, 1.0])
    np.testing.assert_array_equal(found.std, [0.0, nan, np.sqrt(2)])
    assert found.count.tolist() == [1, 0, 2]


def test_seeds_with_other_steps_meet_on_lines_between_their_points() -> None:
    found = band([series([0.0, 10.0], [0, 10]), series([4.0, 6.0], [5, 7])])
    assert found.steps.tolist() == [0, 5, 7, 10]
    assert found.mean.tolist() == [0.0, 4.5, 6.5, 10.0]
    assert found.count.tolist() == [1, 2, 2, 1]


def test_huge_values_do_not_overflow_the_mean() -> None:
    assert band([series([1.7e308]), series([1.7e308])]).mean.tolist() == [1.7e308]


def test_nothing_gives_an_empty_band() -> None:
    assert len(band([]).steps) == 0
    assert len(band([series([])]).steps) == 0


def test_runs_are_grouped_by_a_config_value() -> None:
    runs = [
        Run({"lr": 0.1, "seed": 0}, series([1.0])),
        Run({"lr": 0.1, "seed": 1}, series([3.0])),
        Run({"lr": 0.2, "seed": 0}, series([5.0])),
        Run({"seed": 0}, series([7.0])),
        Run({"lr": 0.1}, None),
    ]
    groups = group_series(runs, "loss", by="lr")
    assert [(group.value, len(group.series), group.band.mean.tolist()) for group in groups] == [
        (0.1, 2, [2.0]),
        (0.2, 1, [5.0]),
        (None, 1, [7.0]),
    ]


def test_true_and_one_are_different_configs() -> None:
    runs = [Run({"x": value}, series([1.0])) for value in (True, 1, 1.0, [1], "1")]
    assert len(group_series(runs, "loss", by="x")) == 5
