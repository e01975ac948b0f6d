"""Questions about forests, against plain loops over random ones."""

from __future__ import annotations

import random

import numpy as np
import pytest

from stepscope.profile.trace.ancestors import around, depths, nearest, nearest_of
from stepscope.profile.trace.calls import call_tree
from stepscope.profile.trace.nesting import nest


def forest(chance: random.Random, n: int) -> list[int]:
    """Parents come before or after their children: events are in no order."""
    order = list(range(n))
    chance.shuffle(order)
    parent = [-1] * n
    for place, node in enumerate(order):
        if place and chance.random() < 0.9:
            parent[node] = order[chance.randrange(place)]
    return parent


def chain(parent: list[int], node: int) -> list[int]:
    found = []
    while node >= 0:
        found.append(node)
        node = parent[node]
    return found


@pytest.mark.parametrize("seed", range(20))
def test_forests_are_climbed_right(seed: int) -> None:
    chance = random.Random(seed)
    n = chance.choice([0, 1, 2, 50])
    parent, wanted = forest(chance, n), [chance.random() < 0.3 for _ in range(n)]
    expected = [next((one for one in chain(parent, node) if wanted[one]), -1) for node in range(n)]
    columns = np.array(parent, np.int32), np.array(wanted, bool)
    assert nearest(*columns).tolist() == expected
    some = [chance.randrange(-1, n) for _ in range(10)]
    assert nearest_of(*columns, np.array(some)).tolist() == [expected[one] if one >= 0 else -1 for one in some]
    assert depths(columns[0]).tolist() == [len(chain(parent, node)) - 1 for node in range(n)]


@pytest.mark.parametrize("seed", range(20))
def test_the_call_tree_joins_calls_with_the_same_way_to_them(seed: int) -> None:
    chance = random.Random(seed)
    n = chance.choice([0, 1, 40])
    parent, label = forest(chance, n), [chance.randrange(3) for _ in range(n)]
    dur = [chance.randrange(100) for _ in range(n)]
    tree = call_tree(np.array(parent, np.int64), np.array(label, np.int64), np.array(dur, np.int64))
    ways = {}
    for node in range(n):
        way = tuple(label[one] for one in reversed(chain(parent, node)))
        calls, total = ways.get(way, (0, 0))
        ways[way] = (calls + 1, total + dur[node])
    found = {}
    for node in range(len(tree)):
        assert tree.parent[node] < node
        way = tuple(int(tree.label[one]) for one in reversed(chain(tree.parent.tolist(), node)))
        found[way] = (int(tree.calls[node]), int(tree.total_ns[node]))
    assert found == ways


@pytest.mark.parametrize("seed", range(20))
def test_an_instant_lies_in_the_innermost_span_that_is_open(seed: int) -> None:
    chance = random.Random(seed)
    spans: list[tuple[int, int, int]] = []

    def grow(lane: int, begin: int, end: int) -> None:
        spans.append((lane, begin, end))
        at = begin
        while at < end and chance.random() < 0.7:
            at += chance.randrange(0, 3)
            length = chance.randrange(1, 20)
            if at + length >= end:
                break
            grow(lane, at, at + length)
            at += length

    for lane in (0, 1):
        grow(lane, 0, 60)
    instants = [(chance.choice([0, 1, 2]), chance.randrange(0, 70)) for _ in range(40)]
    lane = np.array([one for one, _, _ in spans] + [one for one, _ in instants])
    start = np.array([begin for _, begin, _ in spans] + [at for _, at in instants])
    end = np.array([end for _, _, end in spans] + [at for _, at in instants])
    n = len(spans)
    parent = np.full(len(lane), -1)
    parent[:n] = nest(lane[:n], start[:n], (end - start)[:n])
    got = around(parent, lane, start, end, np.arange(n), np.arange(n, len(lane)))
    for (on, at), found in zip(instants, got.tolist(), strict=True):
        if any(one == on and end == at for one, _, end in spans):
            continue  # at the very end of a span it may be taken for inside or not
        open_then = [span for span in spans if span[0] == on and span[1] <= at < span[2]]
        expected = min((span[2] - span[1] for span in open_then), default=None)
        assert (spans[found][2] - spans[found][1] if found >= 0 else None) == expected
