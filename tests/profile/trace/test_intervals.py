from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from stepscope.profile.trace.intervals import Stretches, without_overlap

SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=12)


def moments(spans: list[tuple[int, int]]) -> set[int]:
    return {t for begin, length in spans for t in range(begin, begin + length)}


def stretches(spans: list[tuple[int, int]]) -> Stretches:
    begin = np.array([b for b, _ in spans], np.int64)
    return Stretches.union(begin, begin + np.array([n for _, n in spans], np.int64))


def covered(found: Stretches) -> set[int]:
    return {t for b, e in zip(found.begin.tolist(), found.end.tolist(), strict=True) for t in range(b, e)}


@given(SPANS, SPANS)
def test_unions_and_intersections_hold_the_moments_of_both(
    one: list[tuple[int, int]], two: list[tuple[int, int]]
) -> None:
    a, b = stretches(one), stretches(two)
    assert covered(a) == moments(one)
    assert covered(a | b) == moments(one) | moments(two)
    assert covered(a & b) == moments(one) & moments(two)
    assert (a.begin[1:] > a.end[:-1]).all()


@given(SPANS, st.integers(0, 50), st.integers(0, 50))
def test_what_lies_in_a_span_and_what_it_leaves_free(spans: list[tuple[int, int]], one: int, two: int) -> None:
    begin, end = min(one, two), max(one, two)
    inside = moments(spans) & set(range(begin, end))
    found = stretches(spans)
    assert found.within(np.array([begin]), np.array([end])).tolist() == [len(inside)]
    assert covered(found.gaps(begin, end)) == set(range(begin, end)) - inside


@given(SPANS)
def test_cutting_away_overlap_keeps_every_moment_once(spans: list[tuple[int, int]]) -> None:
    begin = np.array([b for b, _ in spans], np.int64)
    cut_begin, cut_end, place = without_overlap(begin, begin + np.array([n for _, n in spans], np.int64))
    pieces = [set(range(b, e)) for b, e in zip(cut_begin.tolist(), cut_end.tolist(), strict=True)]
    assert set().union(*pieces) == moments(spans)
    assert sum(map(len, pieces)) == len(moments(spans))
    assert all(piece <= moments([spans[i]]) for piece, i in zip(pieces, place.tolist(), strict=True))
