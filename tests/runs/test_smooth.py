"""Smoothing over all points: against the plain definition, and where numbers are awkward."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from stepscope.errors import UsageError
from stepscope.runs.points.smooth import ema, gaussian, running_mean, smooth

nan = float("nan")
some = st.lists(st.one_of(st.floats(-1e6, 1e6), st.just(nan)), max_size=60).map(np.array)


def plain_ema(values, weight, gaps=None):
    total = count = 0.0
    out = []
    for at, value in enumerate(values):
        decay = weight if gaps is None else weight ** gaps[at]
        total, count = total * decay, count * decay
        if np.isfinite(value):
            total, count = total + value, count + 1
        out.append(total / count if count else nan)
    return out


@settings(max_examples=100, deadline=None)
@given(some, st.floats(0.01, 0.999))
def test_ema_is_the_plain_loop(values, weight) -> None:
    np.testing.assert_allclose(ema(values, weight), plain_ema(values, weight), rtol=1e-9, atol=1e-9)


def test_ema_forgets_more_over_a_longer_gap() -> None:
    x = np.array([0, 1, 2, 3, 13, 14])
    values = np.array([1.0, 2.0, 3.0, 4.0, 10.0, 11.0])
    np.testing.assert_allclose(ema(values, 0.9, x), plain_ema(values, 0.9, [1, 1, 1, 1, 10, 1]))


def test_ema_of_repeated_and_backward_x_treats_them_as_usual_distances() -> None:
    x = np.array([0, 0, 1, 1, 0, 1])
    values = np.arange(6.0)
    np.testing.assert_allclose(ema(values, 0.5, x), plain_ema(values, 0.5))


def test_ema_is_not_pulled_to_zero_at_the_start() -> None:
    np.testing.assert_allclose(ema(np.full(50, 7.0), 0.99), 7.0)


def test_weights_outside_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 0 and below 1, not 1"):
        ema(np.ones(3), 1.0)
    with pytest.raises(UsageError, match="there is no smoothing 'median'"):
        smooth("median", np.ones(3), 1)
    with pytest.raises(UsageError, match="must be a number, not nan"):
        smooth("ema", np.ones(3), nan)


@settings(max_examples=100, deadline=None)
@given(some, st.integers(1, 80))
def test_running_mean_is_the_mean_around_each_point(values, width) -> None:
    before = (width - 1) // 2
    expected = []
    for at in range(len(values)):
        window = values[max(0, at - before) : at - before + width]
        finite = window[np.isfinite(window)]
        expected.append(finite.mean() if len(finite) else (values[at] if width == 1 else nan))
    np.testing.assert_allclose(running_mean(values, width), expected, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("deviation", [0.5, 3.0, 5.0, 12.0, 50.0])
def test_gaussian_is_a_bell(deviation) -> None:
    spike = np.zeros(2001)
    spike[1000] = 1.0
    bell = np.exp(-0.5 * ((np.arange(2001) - 1000) / deviation) ** 2)
    bell /= bell.sum()
    np.testing.assert_allclose(gaussian(spike, deviation), bell, atol=0.05 * bell.max())


@pytest.mark.parametrize(("kind", "amount"), [("ema", 0.9), ("gaussian", 2.0), ("gaussian", 30.0), ("mean", 25)])
def test_a_huge_spike_costs_no_precision_far_from_it(kind, amount) -> None:
    values = np.sin(np.arange(5000) / 50)
    spiked = values.copy()
    spiked[2000] = 1e300
    np.testing.assert_allclose(smooth(kind, spiked, amount)[:1800], smooth(kind, values, amount)[:1800])
    if kind != "ema":  # an average over all the past cannot forget 1e300 so soon
        np.testing.assert_allclose(smooth(kind, spiked, amount)[2200:], smooth(kind, values, amount)[2200:])


@pytest.mark.parametrize(("kind", "amount"), [("ema", 0.9), ("gaussian", 2.0), ("gaussian", 30.0), ("mean", 25)])
def test_nan_is_skipped_and_edges_are_level(kind, amount) -> None:
    values = np.full(300, 2.0)
    values[40:45] = nan
    values[70] = float("inf")
    np.testing.assert_allclose(smooth(kind, values, amount), 2.0)
    assert np.isnan(smooth(kind, np.full(5, nan), amount)).all()
    assert len(smooth(kind, np.empty(0), amount)) == 0


def test_nothing_to_smooth_comes_back() -> None:
    values = np.array([1.0, nan, 3.0])
    for kind, amount in (("none", 5), ("ema", 0), ("gaussian", 0), ("mean", 1)):
        np.testing.assert_array_equal(smooth(kind, values, amount), values)


def test_a_million_points_are_smoothed_fast() -> None:
    values = np.random.default_rng(0).normal(size=1_000_000)
    began = time.process_time()
    ema(values, 0.99, np.arange(1_000_000))
    assert time.process_time() - began < 0.3  # 30 ms on a quiet machine
