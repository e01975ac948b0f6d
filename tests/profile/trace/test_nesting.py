"""Which span lies in which: compiled and in Python the same, and both as one would say by looking."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from stepscope.profile.trace import ancestors, library as library_module, nesting
from stepscope.profile.trace.ancestors import depths, nearest
from stepscope.profile.trace.library import library, nearest_compiled, within
from stepscope.profile.trace.nesting import nest

_span = st.tuples(st.integers(0, 2), st.integers(0, 20), st.integers(0, 10))


def columns(spans: list[tuple[int, int, int]]) -> list[np.ndarray]:
    return [np.array([span[i] for span in spans], dtype) for i, dtype in enumerate((np.uint32, np.int64, np.int64))]


def by_looking(spans: list[tuple[int, int, int]]) -> list[int]:
    """With a stack, one span after the other; cut at the end of the parent where spans cross."""
    found = [-1] * len(spans)
    order = sorted(range(len(spans)), key=lambda i: (spans[i][0], spans[i][1], -spans[i][2]))
    stack: list[tuple[int, int, int]] = []
    for i in order:
        lane, start, dur = spans[i]
        stack = [one for one in stack if one[0] == lane and one[1] > start]
        found[i] = stack[-1][2] if stack else -1
        end = min([start + dur, *(one[1] for one in stack)])
        stack.append((lane, end, i))
    return found


@settings(max_examples=200, deadline=None)
@given(st.lists(_span, max_size=30))
def test_as_one_would_say_by_looking(spans: list[tuple[int, int, int]]) -> None:
    expected = by_looking(spans)
    with pytest.MonkeyPatch.context() as patch:
        if library() is not None:
            assert nest(*columns(spans)).tolist() == expected
        patch.setattr(nesting, "nest_compiled", lambda *_: None)
        assert nest(*columns(spans)).tolist() == expected


def test_many_runs_out_of_order() -> None:
    rng = np.random.default_rng(1)
    start = rng.permutation(20_000).astype(np.int64) * 10
    parent = nest(np.zeros(20_001, np.uint32), np.append(start, -1), np.append(np.full(20_000, 9), 10**9))
    assert parent.tolist() == [20_000] * 20_000 + [-1]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 40), st.booleans()), max_size=40), st.randoms(use_true_random=False))
def test_ancestors_are_the_same_compiled_and_with_numpy(nodes: list[tuple[int, bool]], random: Random) -> None:
    """Any forest, its events in any order."""
    names = list(range(len(nodes)))
    random.shuffle(names)
    parent = np.full(len(nodes), -1, np.int32)
    for i, (above, _) in enumerate(nodes):
        parent[names[i]] = names[above] if above < i and above >= 0 else -1
    wanted = np.array([flag for _, flag in nodes], bool)
    if library() is None:
        pytest.skip("the library is not built")
    compiled = [nearest(parent, wanted).tolist(), depths(parent).tolist()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ancestors, "nearest_compiled", lambda *_: None)
        patch.setattr(ancestors, "depths_compiled", lambda *_: None)
        assert compiled == [nearest(parent, wanted).tolist(), depths(parent).tolist()]


def test_parents_that_point_outside_or_in_a_ring_end_nowhere() -> None:
    if library() is None:
        pytest.skip("the library is not built")
    nobody = np.zeros(3, bool)
    assert nearest_compiled(np.array([9, 0, 1], np.int32), nobody) is None
    ring = nearest_compiled(np.array([2, 0, 1], np.int32), nobody)
    assert ring is not None
    assert ring.tolist() == [-1, -1, -1]


@settings(max_examples=100, deadline=None)
@given(st.lists(_span, max_size=30), st.randoms(use_true_random=False))
def test_of_some_rows_only_those_count(spans: list[tuple[int, int, int]], random: Random) -> None:
    rows = np.array([i for i in range(len(spans)) if random.random() < 0.6], np.int64)
    expected = [-1] * len(spans)
    for row, above in zip(rows.tolist(), by_looking([spans[i] for i in rows.tolist()]), strict=True):
        expected[row] = int(rows[above]) if above >= 0 else -1
    assert nest(*columns(spans), rows).tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nesting, "nest_compiled", lambda *_: None)
        assert nest(*columns(spans), rows).tolist() == expected


def test_moments_are_placed_the_same_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    begin = np.cumsum(rng.integers(5, 20, 50))
    end, moments = begin + rng.integers(0, 5, 50), rng.integers(-5, 700, 2000)
    found = within(moments, begin, end)
    monkeypatch.setattr(library_module, "library", lambda: None)
    assert found.tolist() == within(moments, begin, end).tolist()
    assert within(moments, begin[:0], end[:0]).tolist() == [-1] * 2000
