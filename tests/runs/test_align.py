"""Series on common steps, and one series as the axis of another."""

from __future__ import annotations

import numpy as np
import pytest

from stepscope.errors import UsageError
from stepscope.runs.points.align import align, as_x
from stepscope.runs.points.series import Series

nan = float("nan")


def series(name: str, points: dict[int, float] | list[tuple[int, float]]) -> Series:
    pairs = list(points.items()) if isinstance(points, dict) else points
    steps = [step for step, _ in pairs]
    return Series(name, steps, np.arange(len(steps)) * 1.0, [value for _, value in pairs])


A = series("a", {0: 1.0, 10: 2.0, 20: 3.0})
B = series("b", {5: 50.0, 10: 100.0, 25: 250.0})


def test_inner_has_the_steps_that_all_have() -> None:
    found = align([A, B], "inner")
    assert found.steps.tolist() == [10]
    assert found.values.tolist() == [[2.0], [100.0]]
    assert found.names == ("a", "b")


def test_outer_has_all_steps_and_nan_where_there_is_nothing() -> None:
    found = align([A, B])
    assert found.steps.tolist() == [0, 5, 10, 20, 25]
    np.testing.assert_array_equal(found.values, [[1, nan, 2, 3, nan], [nan, 50, 100, nan, 250]])


def test_nearest_takes_the_closest_point_the_earlier_one_in_the_middle() -> None:
    found = align([series("t", {-9: 0, 5: 0, 7: 0, 8: 0, 99: 0}), B], "nearest")
    assert found.values[1].tolist() == [50.0, 50.0, 50.0, 100.0, 250.0]
    far = align([series("t", {-(2**63): 0, 2**63 - 1: 0}), series("u", {-(2**63): 1, 0: 2})], "nearest")
    assert far.values[1].tolist() == [1.0, 2.0]


def test_interpolate_draws_lines_between_points_but_not_beyond() -> None:
    found = align([A, B], "interpolate")
    np.testing.assert_allclose(found.values, [[1, 1.5, 2, 3, nan], [nan, 50, 100, 200, 250]])


def test_interpolate_keeps_what_was_logged() -> None:
    odd = series("odd", {0: 1.0, 5: nan, 10: 3.0, 20: float("inf"), 30: 5.0})
    found = align([odd, series("t", {2: 0.0, 25: 0.0})], "interpolate")
    np.testing.assert_allclose(found.values[0], [1.0, 1.4, nan, 3.0, float("inf"), 4.5, 5.0])


def test_the_last_point_at_a_step_counts() -> None:
    found = align([series("a", [(1, 1.0), (1, 2.0), (2, 3.0)]), series("b", {1: 9.0})])
    np.testing.assert_array_equal(found.values, [[2.0, 3.0], [9.0, nan]])


def test_nothing_and_nonsense() -> None:
    assert align([]).values.shape == (0, 0)
    assert align([series("e", {}), A]).values.shape == (2, 3)
    assert align([A, series("e", {})], "nearest").values.shape == (2, 3)
    assert align([A, series("e", {})], "interpolate").values.shape == (2, 3)
    with pytest.raises(UsageError, match="cannot align by 'left'"):
        align([A], "left")  # type: ignore[arg-type]


def test_an_axis_is_joined_by_step() -> None:
    epoch = series("epoch", {0: 0.0, 10: 1.0, 20: 2.0})
    np.testing.assert_array_equal(as_x(epoch, B), [nan, 1.0, nan])
    assert as_x(epoch, A).tolist() == [0.0, 1.0, 2.0]


def test_points_at_one_step_are_joined_by_order() -> None:
    x = series("x", [(1, 10.0), (1, 11.0), (2, 20.0)])
    y = series("y", [(1, 0.0), (1, 0.0), (1, 0.0), (2, 0.0), (3, 0.0)])
    np.testing.assert_array_equal(as_x(x, y), [10.0, 11.0, 11.0, 20.0, nan])


def test_series_without_a_common_step_go_by_order_if_they_are_as_long() -> None:
    x = series("x", {100: 7.0, 200: 8.0, 300: 9.0})
    assert as_x(x, A).tolist() == [7.0, 8.0, 9.0]
    assert np.isnan(as_x(series("x", {100: 7.0}), A)).all()
    assert np.isnan(as_x(series("x", {}), A)).all()
