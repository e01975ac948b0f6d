"""What the compiled library answers is what numpy answers, for trees of calls and for timelines."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from stepscope.profile.timeline.lines import lay_out
from stepscope.profile.timeline.pyramid import Pyramid
from stepscope.profile.trace import library as library_module
from stepscope.profile.trace.ancestors import nearest_above
from stepscope.profile.trace.calls import call_tree
from stepscope.profile.trace.events import Events
from stepscope.profile.trace.library import (
    call_nodes,
    distinct,
    late_in_groups,
    library,
    most_in_groups,
    order_in_groups,
    take,
    take_or,
)
from stepscope.profile.trace.trace import Trace

pytestmark = pytest.mark.skipif(library() is None, reason="the library is not built")


def forest(nodes: list[tuple[int, int]], random: Random) -> np.ndarray:
    """Parents of events that are in no order."""
    names = list(range(len(nodes)))
    random.shuffle(names)
    parent = np.full(len(nodes), -1, np.int32)
    for i, (above, _) in enumerate(nodes):
        parent[names[i]] = names[above] if 0 <= above < i else -1
    return parent


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 40), st.integers(0, 3)), max_size=40), st.randoms(use_true_random=False))
def test_call_trees_and_ancestors(nodes: list[tuple[int, int]], random: Random) -> None:
    parent, label = forest(nodes, random), np.array([one for _, one in nodes], np.int64)
    dur = np.arange(len(nodes))

    def answers() -> list[list[int]]:
        tree = call_tree(parent, label, dur)
        columns = (tree.label, tree.parent, tree.calls, tree.total_ns, tree.own_ns, tree.node)
        return [one.tolist() for one in (*columns, nearest_above(parent, label > 1))]

    compiled = answers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library_module, "library", lambda: None)
        assert answers() == compiled


def test_nearest_above_is_never_the_event_itself() -> None:
    parent = np.array([2, 0, -1, 1], np.int32)
    assert nearest_above(parent, np.ones(4, bool)).tolist() == parent.tolist()
    assert nearest_above(parent, np.array([False, True, True, True])).tolist() == [2, 2, -1, 1]


def test_parents_in_a_ring_make_a_tree_all_the_same() -> None:
    found = call_nodes(np.array([2, 0, 1, 77], np.int32), np.array([5, 6, 7, 5]))
    assert found is not None
    node, first = found
    assert len(set(node[:3].tolist())) == 3
    assert label_of(first, node[3]) == 5


def label_of(first: np.ndarray, node: int) -> int:
    return [5, 6, 7, 5][int(first[node])]


def test_columns_are_taken_and_ordered_alike() -> None:
    rng = np.random.default_rng(5)
    group, start, dur = rng.integers(0, 7, 500, np.uint32), rng.integers(0, 90, 500), rng.integers(0, 20, 500)
    rows, index = np.flatnonzero(rng.random(500) < 0.5), rng.integers(-1, 500, 900, np.int32)

    def answers() -> list[list[int]]:
        order = order_in_groups(group, 7, start + (1 << 60), rows)
        late = late_in_groups(order, group, start + (1 << 60), dur, 3)
        found = [order, late, *distinct(group.astype(np.int64) * 1_000_003), take_or(group.astype(np.int32), index)]
        for kind in (np.bool_, np.uint16, np.int32, np.float64):
            found.append(take(dur.astype(kind), rows.astype(np.uint32)))
        return [one.tolist() for one in found]

    compiled = answers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library_module, "library", lambda: None)
        assert answers() == compiled


@pytest.mark.parametrize("wrong", [500, 0xFFFFFFFF])
def test_no_index_reaches_outside(wrong: int) -> None:
    for column, index in (
        (np.zeros(500), np.array([3, wrong], np.uint32)),
        (np.zeros(500, np.int32), np.array([3, wrong & 0x7FFFFFFF], np.int32)),
    ):
        with pytest.raises(IndexError):
            (take if index.dtype == np.uint32 else take_or)(column, index)


def test_a_group_that_does_not_exist_is_refused_as_numpy_does() -> None:
    with pytest.raises(IndexError):
        most_in_groups(np.array([0, 9], np.uint32), 3, np.array([1, 2], np.int32))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3000), st.integers(0, 900)), min_size=1, max_size=60))
def test_timelines(spans: list[tuple[int, int, int]]) -> None:
    """Spans of any kind, crossing ones too: the same lines and the same levels of detail."""
    n = len(spans)
    events = Events(
        start=np.array([one[1] for one in spans], np.int64) * 7,
        dur=np.array([one[2] for one in spans], np.int64) * 11,
        ph=np.full(n, ord("X"), np.uint8),
        cat=np.zeros(n, np.uint16),
        name=np.zeros(n, np.uint32),
        lane=np.array([one[0] for one in spans], np.uint32),
        cats=("cpu_op",),
        names=("op",),
        lanes=(("1", "1"), ("1", "2"), ("1", "3")),
        lane_names={},
        texts=(),
        args={},
    )

    def answers() -> list[object]:
        lines = lay_out(Trace(events))
        levels = Pyramid(lines).levels
        found: list[object] = [lines.base_ns, lines.span_ns, lines.moved]
        found += [getattr(lines, name).tolist() for name in ("row", "key", "dur", "first", "lane", "depth", "loose")]
        for one in levels:
            found += [one.level, one.key.tolist(), one.dur.tolist(), one.busy.tolist(), one.count.tolist()]
            found += [one.longest.tolist(), one.longest_dur.tolist(), one.first.tolist()]
        return found

    compiled = answers()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library_module, "library", lambda: None)
        assert answers() == compiled
