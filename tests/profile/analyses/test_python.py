"""Python calls of a trace: against the raw events, and made ones whose truth is known."""

from __future__ import annotations

import pytest
from tests.profile.recorded import FILE, assert_checked, by_key, recorded

from stepscope.profile.analyses.python import python, python_functions
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder


def trace_of(*spans: tuple[str, int, int, int]) -> Profile:
    builder = Builder()
    for name, begin, end, thread in spans:
        builder.add(name, "python_function", start=begin, dur=end - begin, pid=1, tid=thread)
    return Profile.of_events({0: builder.events()})


def test_calls_from_one_place_are_one_node() -> None:
    stack = python(trace_of(("a.py(1): f", 0, 100, 1), ("a.py(9): g", 10, 20, 1), ("a.py(9): g", 30, 60, 1)))
    assert stack is not None
    assert stack.names == ["f (a.py:1)", "g (a.py:9)"]
    assert (stack.parent, stack.total, stack.own, stack.calls) == ([-1, 0], [100, 40], [60, 40], [1, 2])


def test_objects_do_not_make_two_functions_of_one() -> None:
    trace = trace_of(
        ("<built-in method add_ of Tensor object at 0x7f01>", 0, 5, 1),
        ("<built-in method add_ of Tensor object at 0x7f02>", 6, 9, 1),
    )
    assert by_key(python_functions(trace), "function")["Tensor.add_"]["calls"] == 2


def test_recursion_is_counted_once_in_total() -> None:
    trace = trace_of(("a.py(1): f", 0, 100, 1), ("a.py(1): f", 10, 60, 1))
    row = by_key(python_functions(trace), "where")["a.py:1"]
    assert (row["own_ns"], row["total_ns"], row["calls"]) == (100, 100, 2)


def test_threads_that_only_wait_do_not_drown_the_training() -> None:
    builder = Builder()
    builder.add("train.py(1): step", "python_function", start=0, dur=50, pid=1, tid=1)
    builder.add("aten::mm", "cpu_op", start=10, dur=5, pid=1, tid=1)
    builder.add("threading.py(1): wait", "python_function", start=0, dur=900, pid=1, tid=2)
    trace = Profile.of_events({0: builder.events()})
    sheet = python_functions(trace)
    assert sheet is not None
    assert [row[0] for row in sheet.rows] == ["step"]
    stack = python(trace)
    assert stack is not None
    roots = [stack.names[stack.name[i]] for i, parent in enumerate(stack.parent) if parent < 0]
    assert roots == ["training thread", "other threads"]


def test_our_own_calls_stand_apart_and_their_callees_hang_where_they_were() -> None:
    profile = trace_of(
        ("/opt/bin/stepscope(8): <module>", 0, 100, 1),
        ("click/core.py(1): invoke", 1, 99, 1),
        ("stepscope/launch/script.py(1): run_as_main", 2, 98, 1),
        ("train.py(20): <module>", 10, 90, 1),
        ("stepscope/launch/loop.py(98): __next__", 20, 60, 1),
        ("<built-in function isinstance>", 21, 22, 1),
        ("torch/utils/data/dataloader.py(720): __next__", 25, 55, 1),
    )
    stack = python(profile)
    assert stack is not None
    nodes = {stack.names[name]: (parent, total, own) for name, parent, total, own in
             zip(stack.name, stack.parent, stack.total, stack.own, strict=True)}  # fmt: skip
    assert nodes == {
        "<module> (train.py:20)": (-1, 80, 40),
        "Stepscope itself": (0, 10, 10),
        "__next__ (torch/utils/data/dataloader.py:720)": (0, 30, 30),
    }
    assert "Stepscope's own calls took 12.5% of this time" in stack.notes[1]


def test_the_numbers_are_those_of_the_raw_trace() -> None:
    found = recorded()
    trace = found.profile()
    sheet = python_functions(trace)
    assert_checked(sheet)
    raw = [e for e in found.trace["traceEvents"] if e["name"].endswith("): step") and FILE in e["name"]]
    row = next(row for key, row in by_key(sheet, "where").items() if key == f"{FILE}:33")
    assert row["calls"] == len(raw) == 2
    assert row["total_ns"] == pytest.approx(sum(e["dur"] for e in raw) * 1000, abs=10)
    stack = python(trace)
    assert stack is not None
    assert all(parent < i for i, parent in enumerate(stack.parent))
    roots = sum(total for total, parent in zip(stack.total, stack.parent, strict=True) if parent < 0)
    assert sum(stack.own) == pytest.approx(roots, rel=0.01)


def test_a_trace_without_stacks_has_none() -> None:
    trace = recorded(stacks=False, spans=True).profile()
    assert python(trace) is None
    assert python_functions(trace) is None
