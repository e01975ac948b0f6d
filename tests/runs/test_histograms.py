"""Histograms are decoded with care and rebinned without losing anything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from stepscope.errors import BadData
from stepscope.runs.points.histograms import (
    PERCENTS,
    Histogram,
    common_edges,
    decode_histogram,
    percentiles,
    rebin,
    ridge,
)


def histogram(edges: list[float], counts: list[float]) -> Histogram:
    return Histogram(np.array(edges, dtype=float), np.array(counts, dtype=float))


def test_the_bytes_are_edges_then_counts() -> None:
    data = np.array([0.0, 1.0, 3.0, 5.0, 7.0]).tobytes()
    found = decode_histogram(data)
    assert found.edges.tolist() == [0.0, 1.0, 3.0]
    assert found.counts.tolist() == [5.0, 7.0]


@pytest.mark.parametrize(
    "numbers",
    [[], [1.0], [0.0, 1.0], [0.0, 1.0, 2.0, 3.0], [1.0, 0.0, 5.0], [0.0, float("nan"), 5.0], [0.0, 1.0, -1.0]],
)
def test_what_is_no_histogram_is_refused(numbers: list[float]) -> None:
    with pytest.raises(BadData):
        decode_histogram(np.array(numbers, dtype=float).tobytes())


def test_bytes_of_no_histogram_are_refused() -> None:
    with pytest.raises(BadData, match="7 bytes are not a histogram"):
        decode_histogram(b"1234567")


bins = st.lists(st.tuples(st.floats(0, 5), st.floats(0, 100)), min_size=1, max_size=10)


@settings(max_examples=100, deadline=None)
@given(bins, st.lists(st.floats(-10, 60), min_size=2, max_size=12, unique=True))
def test_rebinning_keeps_the_whole_content(pieces, edges) -> None:
    found = histogram(np.cumsum([0.0, *(width for width, _ in pieces)]).tolist(), [count for _, count in pieces])
    counts = rebin(found, np.sort(np.array(edges)))
    assert (counts >= -1e-9).all()
    np.testing.assert_allclose(counts.sum(), found.counts.sum(), atol=1e-9)


def test_rebinning_spreads_a_bin_evenly() -> None:
    found = rebin(histogram([0, 4, 6], [8, 2]), np.array([0.0, 1.0, 5.0, 6.0]))
    assert found.tolist() == [2.0, 7.0, 1.0]


def test_a_bin_without_width_stays_in_one_place() -> None:
    found = rebin(histogram([1, 1, 2], [10, 4]), np.array([0.0, 1.0, 1.5, 2.0]))
    assert found.sum() == 14.0
    assert found[0] + found[1] >= 12.0


def test_common_edges_ignore_empty_ends() -> None:
    edges = common_edges([histogram([-100, 0, 1, 100], [0, 5, 0]), histogram([0, 2], [1])], 4)
    assert edges.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert common_edges([], 2).tolist() == [0.0, 0.5, 1.0]
    constant = common_edges([histogram([3, 3], [7])], 2)
    assert constant[0] < 3 < constant[-1]


def test_percentiles_of_an_even_histogram() -> None:
    found = percentiles(histogram([0, 50, 100], [10, 10]))
    np.testing.assert_allclose(found, PERCENTS)
    lower, upper = percentiles(histogram([0, 1, 2, 3], [5, 0, 5]), (50.0, 51.0))
    assert lower == 1.0
    assert 2.0 < upper < 2.1
    assert np.isnan(percentiles(histogram([0, 1], [0]))).all()


def test_a_ridge_has_one_line_per_histogram() -> None:
    found = ridge([histogram([0, 1], [4]), histogram([1, 2], [6])], bins=2)
    assert found.edges.tolist() == [0.0, 1.0, 2.0]
    assert found.counts.tolist() == [[4.0, 0.0], [0.0, 6.0]]
    assert found.percentiles.shape == (2, len(PERCENTS))
    assert ridge([], 3).counts.shape == (0, 3)
