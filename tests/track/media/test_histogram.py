"""Histograms: the same counts as numpy's, whatever the values; nothing that is logged can break one."""

from __future__ import annotations

import math
import os
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from stepscope.errors import UsageError
from stepscope.track.media import Histogram

RNG = np.random.default_rng(2)


def encoded(histogram: Histogram) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    [(record, data)] = histogram.encode("k", 1, 2.0)
    assert data is not None
    assert record.kind == "histogram"
    values = np.frombuffer(data, "<f8")
    bins = record.meta["bins"]
    assert len(values) == 2 * bins + 1
    return record.meta, values[: bins + 1], values[bins + 1 :]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 100, 70_000])
def test_counts_are_numpys(dtype: Any, size: int) -> None:
    values = RNG.normal(size=size).astype(dtype)
    meta, edges, counts = encoded(Histogram(values))
    np.testing.assert_array_equal(counts, np.histogram(values.astype(np.float64), edges)[0])
    wide = values.astype(np.float64)
    assert (meta["min"], meta["max"]) == (wide.min(), wide.max())
    assert meta["mean"] == pytest.approx(wide.mean(), rel=1e-9, abs=1e-12)
    assert meta["std"] == pytest.approx(wide.std(), rel=1e-9, abs=1e-9)
    assert meta["total"] == size


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True) | st.floats(-1e-300, 1e-300), max_size=60),
    st.integers(1, 80),
)
def test_any_floats_at_all(values: list[float], bins: int) -> None:
    meta, edges, counts = encoded(Histogram(values, bins=bins)) if values else encoded(Histogram(np.array([]), bins))
    array = np.array(values, np.float64)
    finite = array[np.isfinite(array)]
    assert counts.sum() == len(finite)
    assert meta["total"] == len(array)
    assert meta["nan"] == np.isnan(array).sum()
    assert meta["pos_inf"] == (array == np.inf).sum()
    assert meta["neg_inf"] == (array == -np.inf).sum()
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()
    assert all(value is None or math.isfinite(value) for value in meta.values())
    if len(finite):
        assert edges[0] <= finite.min() <= finite.max() <= edges[-1]
        places = np.clip(np.searchsorted(edges, finite, side="right") - 1, 0, len(counts) - 1)
        np.testing.assert_array_equal(counts, np.bincount(places, minlength=len(counts)))


def test_few_whole_numbers_get_a_bin_each() -> None:
    _, edges, counts = encoded(Histogram(np.array([3, 3, 5, 7])))
    assert edges.tolist() == [2.5, 3.5, 4.5, 5.5, 6.5, 7.5]
    assert counts.tolist() == [2, 0, 1, 0, 1]


def test_many_whole_numbers_get_even_bins() -> None:
    meta, _, counts = encoded(Histogram(np.arange(10_000)))
    assert meta["bins"] == 64
    assert counts.sum() == 10_000


def test_booleans_are_two_bins() -> None:
    meta, edges, counts = encoded(Histogram(torch.tensor([True, False, True])))
    assert (edges.tolist(), counts.tolist(), meta["mean"]) == ([-0.5, 0.5, 1.5], [1, 2], pytest.approx(2 / 3))


def test_integers_beyond_float64_are_counted() -> None:
    meta, _, counts = encoded(Histogram(np.array([2**63 - 1, -(2**63), 0])))
    assert (counts.sum(), meta["total"]) == (3, 3)


def test_values_that_are_all_the_same() -> None:
    for value in (0.0, 1.0, -1e-320, 1e300, 1.7e308, -5.0):
        _, edges, counts = encoded(Histogram(np.full(5, value)))
        assert counts.sum() == 5
        assert edges[0] <= value <= edges[-1]


def test_neighbours_in_float64_are_told_apart_or_at_least_counted() -> None:
    _, edges, counts = encoded(Histogram(np.array([1.0, np.nextafter(1.0, 2)])))
    assert (np.diff(edges) > 0).all()
    assert counts.sum() == 2


def test_moments_survive_an_offset_and_extremes() -> None:
    values = RNG.normal(size=10_000) + 1e8
    meta, _, _ = encoded(Histogram(values))
    assert meta["std"] == pytest.approx(values.std(), rel=1e-6)
    meta, _, _ = encoded(Histogram(np.array([1e200, -1e200])))
    assert (meta["mean"], meta["std"]) == (0.0, pytest.approx(1e200))
    meta, _, _ = encoded(Histogram(np.array([1e-200, 3e-200])))
    assert meta["std"] == pytest.approx(1e-200)


def test_empty_and_all_nan_are_shown_as_empty() -> None:
    meta, edges, counts = encoded(Histogram(torch.zeros(0, 3)))
    assert (meta["total"], meta["min"], edges.tolist(), counts.tolist()) == (0, None, [0, 1], [0])
    meta, _, counts = encoded(Histogram([float("nan")] * 4))
    assert (meta["total"], meta["nan"], meta["mean"], counts.tolist()) == (4, 4, None, [0])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int8, torch.uint8])
def test_tensors_of_small_types(dtype: torch.dtype) -> None:
    meta, _, counts = encoded(Histogram(torch.tensor([1, 2, 3], dtype=dtype)))
    assert (counts.sum(), meta["mean"]) == (3, 2.0)


def test_a_sparse_a_quantized_and_a_transposed_tensor() -> None:
    for tensor in (torch.eye(3).to_sparse(), torch.arange(9.0).reshape(3, 3).t()):
        assert encoded(Histogram(tensor))[2].sum() == 9


def test_a_list_of_gradients_is_one_histogram() -> None:
    parts = [torch.zeros(3, 3, requires_grad=True), torch.ones(2)]
    meta, _, _ = encoded(Histogram(parts))
    assert (meta["total"], meta["mean"]) == (11, pytest.approx(2 / 11))


def test_later_changes_do_not_show() -> None:
    tensor, array = torch.zeros(4), np.zeros(4)
    made = [Histogram(tensor), Histogram(array)]
    tensor += 5
    array += 5
    assert [encoded(h)[0]["max"] for h in made] == [0.0, 0.0]


def test_counted_by_the_user() -> None:
    counts, edges = np.histogram(RNG.normal(size=1000), bins=10)
    for histogram in (Histogram((counts, edges)), Histogram(counts=counts, edges=edges)):
        meta, kept_edges, kept = encoded(histogram)
        np.testing.assert_array_equal(kept, counts)
        np.testing.assert_array_equal(kept_edges, edges)
        assert (meta["total"], meta["estimated"]) == (1000, True)
        assert meta["std"] == pytest.approx(1.0, abs=0.1)


def test_torch_histogram_fits_too() -> None:
    _, _, counts = encoded(Histogram(tuple(torch.histogram(torch.arange(10.0), bins=5))))
    assert counts.tolist() == [2, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either values, or both"),
        ({"values": [1], "counts": [1], "edges": [0, 1]}, "either values, or both"),
        ({"counts": [1]}, "either values, or both"),
        ({"counts": [1, 2], "edges": [0, 1]}, "2 counts need 3 edges, but there are 2"),
        ({"counts": [1, 2], "edges": [0, 1, 1]}, "increasing"),
        ({"counts": [1, 2], "edges": [0, 1, float("inf")]}, "finite"),
        ({"counts": [1, -2], "edges": [0, 1, 2]}, "non-negative"),
        ({"counts": [], "edges": [0]}, "0 counts"),
        ({"values": [1.0], "bins": 0}, "bins=0"),
        ({"values": [1.0], "bins": 10**6}, "bins=1000000"),
        ({"values": "abc"}, "cannot be made from 'abc'"),
        ({"values": [1j]}, "complex"),
        ({"values": [None, 1]}, "give numbers"),
        ({"values": [object()]}, "give numbers"),
    ],
)
def test_what_is_wrong_is_said(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Histogram(**arguments).encode("k", 0, 0.0)
