"""The tree out of cProfile's caller graph."""

from __future__ import annotations

import gc

import pytest

from stepscope.profile.python.call_tree import call_tree
from stepscope.profile.python.cprofile import CProfiler
from stepscope.profile.python.stats import ProfStats
from stepscope.records.profile import Stack

MAIN, TRAIN, TEST, STEP = ("m.py", 1, "main"), ("m.py", 10, "train"), ("m.py", 20, "test"), ("m.py", 30, "step")


def shape(stack: Stack) -> list[tuple[str, str, float, float]]:
    """(path of the parent, name, total in s, own in s)"""
    paths: list[str] = []
    found = []
    for node, above in enumerate(stack.parent):
        name = stack.names[stack.name[node]].split(" ")[0]
        parent = paths[above] if above >= 0 else ""
        paths.append(f"{parent}/{name}")
        found.append((parent, name, round(stack.total[node] / 1e9, 9), round(stack.own[node] / 1e9, 9)))
    return sorted(found)


def test_a_function_with_two_callers_is_shared_by_its_time_under_each() -> None:
    stats = ProfStats.of({
        MAIN: (1, 1, 1.0, 11.0, {}),
        TRAIN: (1, 1, 1.0, 8.0, {MAIN: (1, 1, 1.0, 8.0)}),
        TEST: (1, 1, 0.0, 2.0, {MAIN: (1, 1, 0.0, 2.0)}),
        STEP: (4, 4, 9.0, 9.0, {TRAIN: (3, 3, 7.0, 7.0), TEST: (1, 1, 2.0, 2.0)}),
    })  # fmt: skip
    assert shape(call_tree(stats)) == [
        ("", "main", 11.0, 1.0),
        ("/main", "test", 2.0, 0.0),
        ("/main", "train", 8.0, 1.0),
        ("/main/test", "step", 2.0, 2.0),
        ("/main/train", "step", 7.0, 7.0),
    ]


def test_below_a_shared_function_time_goes_in_proportion() -> None:
    leaf = ("m.py", 40, "leaf")
    stats = ProfStats.of({
        TRAIN: (1, 1, 0.0, 6.0, {}),
        TEST: (1, 1, 0.0, 2.0, {}),
        STEP: (4, 4, 4.0, 8.0, {TRAIN: (3, 3, 3.0, 6.0), TEST: (1, 1, 1.0, 2.0)}),
        leaf: (8, 8, 4.0, 4.0, {STEP: (8, 8, 4.0, 4.0)}),
    })  # fmt: skip
    tree = call_tree(stats)
    assert [row for row in shape(tree) if row[1] == "leaf"] == [
        ("/test/step", "leaf", 1.0, 1.0),
        ("/train/step", "leaf", 3.0, 3.0),
    ]
    assert "in proportion" in tree.notes[0]


def test_recursion_does_not_lengthen_the_tree_and_keeps_its_time() -> None:
    profiler = CProfiler()

    def down(n: int) -> int:
        return 0 if n == 0 else down(n - 1) + sum(range(200))

    gc.disable()  # what others do when it runs would be in the tree
    profiler.start()
    down(30)
    profiler.stop()
    gc.enable()
    stats = profiler.result()
    tree = call_tree(stats)
    assert sum(tree.own) == pytest.approx(stats.total_s * 1e9, rel=1e-6)
    assert sum(t for t, above in zip(tree.total, tree.parent, strict=True) if above < 0) == pytest.approx(sum(tree.own))
    assert sorted(name.split(" ")[0] for name in tree.names)[-1].endswith("down")


def test_functions_in_a_circle_end() -> None:
    one, two = ("m.py", 1, "one"), ("m.py", 2, "two")
    edges = (3, 1, 0.5, 1.0)
    stats = ProfStats.of({one: (1, 3, 1.0, 2.0, {two: edges}), two: (1, 3, 1.0, 1.5, {one: edges})})
    tree = call_tree(stats)
    assert [tree.names[name].split(" ")[0] for name in tree.name] == ["one", "two"]
    assert any("circle" in note for note in tree.notes)


def test_own_times_of_every_function_sum_to_those_of_pstats() -> None:
    profiler = CProfiler()

    def leaf(n: int) -> int:
        return sum(range(n))

    def left() -> int:
        return leaf(20000) + leaf(10)

    def right() -> int:
        return leaf(5000) + left()

    profiler.start()
    for _ in range(20):
        left()
        right()
    profiler.stop()
    stats, tree = profiler.result(), call_tree(profiler.result())
    for function, one in stats.functions.items():
        nodes = [i for i, name in enumerate(tree.name) if (tree.files[name], tree.lines[name]) == function[:2]]
        if function[0] != "~" and one.calls.own_s > 1e-5:
            assert sum(tree.own[i] for i in nodes) == pytest.approx(one.calls.own_s * 1e9, rel=0.02)
            assert sum(tree.calls[i] for i in nodes) == pytest.approx(one.calls.total, abs=2)


def test_a_wide_graph_is_cut_to_its_largest_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepscope.profile.python.call_tree.MOST_NODES", 50)
    children = {("m.py", i, f"f{i}"): (1, 1, i * 1.0, i * 1.0, {MAIN: (1, 1, i * 1.0, i * 1.0)}) for i in range(1, 100)}
    tree = call_tree(ProfStats.of({MAIN: (1, 1, 0.0, 4950.0, {}), **children}))
    assert len(tree.name) == 50
    assert tree.total[1] == 99e9
    assert tree.own[0] == sum(range(1, 51)) * 1e9
    assert any("50 small branches" in note for note in tree.notes)
