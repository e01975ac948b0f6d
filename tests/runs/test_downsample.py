"""Buckets keep what a person would want to see, whatever the numbers and however many."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from stepscope.errors import UsageError
from stepscope.runs.points.downsample import downsample
from stepscope.runs.points.pyramid import BLOCK, Pyramid

nan, inf = float("nan"), float("inf")


def test_few_points_come_back_as_they_are() -> None:
    found = downsample(np.array([1, 5, 9]), np.array([0.5, nan, inf]), 3)
    assert found.x.tolist() == [1.0, 5.0, 9.0]
    np.testing.assert_array_equal(found.value, [0.5, nan, nan])
    np.testing.assert_array_equal(found.first, [0.5, nan, inf])
    assert found.nan.tolist() == [0, 1, 0]
    assert found.pos_inf.tolist() == [0, 0, 1]
    assert found.points == 3


def test_a_bucket_keeps_its_extremes_ends_and_mean() -> None:
    found = downsample(np.arange(6), np.array([1.0, 5.0, 3.0, 8.0, 2.0, 2.0]), 2)
    assert found.low.tolist() == [1.0, 2.0]
    assert found.high.tolist() == [5.0, 8.0]
    assert found.first.tolist() == [1.0, 8.0]
    assert found.last.tolist() == [3.0, 2.0]
    assert found.value.tolist() == [3.0, 4.0]
    assert found.count.tolist() == [3, 3]
    assert found.x.tolist() == [0.0, 5.0]


def test_no_spike_of_a_million_is_lost() -> None:
    values = np.random.default_rng(0).normal(size=1_000_000)
    spikes = np.random.default_rng(1).choice(1_000_000, 20, replace=False)
    values[spikes] = np.arange(20) * 100 + 1000
    found = downsample(np.arange(1_000_000), values, 800)
    kept = set(found.high.tolist())
    hidden = [value for value in values[spikes].tolist() if value not in kept]
    for value in hidden:  # only by a higher spike in the same bucket
        bucket = np.searchsorted(found.starts, np.flatnonzero(values == value)[0], side="right") - 1
        assert found.high[bucket] > value
    assert len(found) == 800


def test_not_finite_values_are_counted_and_do_not_spoil_the_rest() -> None:
    values = np.array([1.0, nan, 3.0, inf, nan, nan, -inf, -inf, nan])
    found = downsample(np.arange(9), values, 3)
    np.testing.assert_array_equal(found.value, [2.0, nan, nan])
    np.testing.assert_array_equal(found.low, [1.0, nan, nan])
    np.testing.assert_array_equal(found.high, [3.0, nan, nan])
    assert found.nan.tolist() == [1, 2, 1]
    assert found.pos_inf.tolist() == [0, 1, 0]
    assert found.neg_inf.tolist() == [0, 0, 2]


def test_a_range_is_bucketed_anew_with_neighbours_if_asked() -> None:
    steps, values = np.arange(1000), np.arange(1000.0)
    inside = downsample(steps, values, 10, lo=100, hi=199)
    assert inside.points == 100
    assert (inside.low[0], inside.high[-1]) == (100.0, 199.0)
    wider = downsample(steps, values, 10, lo=100, hi=199, neighbours=True)
    assert (wider.x[0], wider.x[-1], len(wider)) == (99.0, 200.0, 12)
    assert downsample(steps, values, 10, lo=2000, hi=3000).points == 0
    assert downsample(steps, values, 10, lo=10.2, hi=11.9).x.tolist() == [11.0]
    assert downsample(steps, values, 10, lo=5, hi=4).points == 0
    assert downsample(steps, values, 5, lo=-inf, hi=inf).points == 1000


def test_an_axis_that_jumps_is_sorted_and_one_without_place_left_out() -> None:
    x = np.array([3.0, 1.0, nan, 2.0, 1.0, inf])
    values = np.array([30.0, 10.0, 99.0, 20.0, 11.0, 98.0])
    found = downsample(x, values, 10)
    assert found.x.tolist() == [1.0, 1.0, 2.0, 3.0]
    assert found.first.tolist() == [10.0, 11.0, 20.0, 30.0]
    assert found.order is not None
    assert found.order.tolist() == [1, 4, 3, 0]


def test_steps_at_the_edge_of_64_bits_have_their_place() -> None:
    steps = np.array([-(2**63), -1, 0, 1, 2**63 - 2, 2**63 - 1])
    found = downsample(steps, np.arange(6.0), 2)
    assert found.count.sum() == 6
    assert (found.low.min(), found.high.max()) == (0.0, 5.0)
    assert downsample(steps, np.arange(6.0), 2, lo=-1e30, hi=1e30).points == 6


def test_empty_and_wrong_requests() -> None:
    assert len(downsample(np.empty(0, np.int64), np.empty(0), 10)) == 0
    with pytest.raises(UsageError, match="buckets must be 1 or more, not 0"):
        downsample(np.arange(3), np.zeros(3), 0)


def test_huge_values_have_a_mean() -> None:
    found = downsample(np.arange(4), np.full(4, 1.5e308), 1)
    assert found.value.tolist() == [1.5e308]


numbers = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([nan, inf, -inf, 0.0, -0.0]))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 60), numbers), max_size=80), st.integers(1, 20))
def test_buckets_are_what_their_points_say(points, buckets) -> None:
    points.sort(key=lambda point: point[0])
    steps = np.array([step for step, _ in points], dtype=np.int64)
    values = np.array([value for _, value in points])
    found = downsample(steps, values, buckets)
    assert found.count.sum() == found.points == len(points)
    assert len(found) <= max(buckets, 0)
    for at, (start, count) in enumerate(zip(found.starts, found.count, strict=True)):
        own = values[start : start + count]
        finite = own[np.isfinite(own)]
        assert found.nan[at] == np.isnan(own).sum()
        assert found.pos_inf[at] == (own == inf).sum()
        assert found.neg_inf[at] == (own == -inf).sum()
        if len(finite):
            assert (found.low[at], found.high[at]) == (finite.min(), finite.max())
            assert finite.min() <= found.value[at] <= finite.max()
        else:
            assert np.isnan([found.low[at], found.high[at], found.value[at]]).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 3000), min_size=1, max_size=6), st.integers(1, 12), st.booleans(), st.integers(0, 2**32))
def test_a_pyramid_that_grew_says_what_the_points_say(pieces, buckets, odd, seed) -> None:
    chance = np.random.default_rng(seed)
    values = chance.normal(size=sum(pieces))
    if odd:
        values[chance.integers(0, len(values), len(values) // 50 + 1)] = chance.choice([nan, inf, -inf])
    pyramid = Pyramid()
    for end in np.cumsum(pieces):
        pyramid.update(values[:end])
    steps = np.cumsum(chance.integers(0, 3, len(values)))
    starts = np.unique(np.sort(chance.integers(0, len(values), buckets)))
    ends = np.append(starts[1:], len(values))
    for low, direct in zip(pyramid.over(values, starts, ends), Pyramid.direct(values, starts, ends), strict=True):
        np.testing.assert_allclose(low, direct, rtol=1e-12)
    with_it = downsample(steps, values, buckets, pyramid=pyramid)
    without = downsample(steps, values, buckets)
    np.testing.assert_array_equal(with_it.high, without.high)
    np.testing.assert_array_equal(with_it.nan, without.nan)


def test_a_chart_costs_the_same_however_long_the_history() -> None:
    values = np.random.default_rng(0).normal(size=4_000_000)
    pyramid = Pyramid()
    pyramid.update(values)
    assert pyramid.blocks == len(values) // BLOCK
    steps = np.arange(len(values))
    took = []
    for _ in range(5):
        began = time.process_time()
        downsample(steps, values, 800, is_sorted=True, pyramid=pyramid)
        took.append(time.process_time() - began)
    assert min(took) < 0.02  # about 1 ms; from the points themselves 7
