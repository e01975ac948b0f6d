"""Which span lies in which: compiled and in Python the same, and both as one would say by looking."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from stepscope.profile.trace import nesting
from stepscope.profile.trace.nesting import nest
from stepscope.profile.trace.scan_compiled import library

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
        patch.setattr(nesting, "nest_compiled", lambda *_: False)
        assert nest(*columns(spans)).tolist() == expected


def test_many_runs_out_of_order() -> None:
    rng = np.random.default_rng(1)
    start = rng.permutation(20_000).astype(np.int64) * 10
    parent = nest(np.zeros(20_001, np.uint32), np.append(start, -1), np.append(np.full(20_000, 9), 10**9))
    assert parent.tolist() == [20_000] * 20_000 + [-1]
