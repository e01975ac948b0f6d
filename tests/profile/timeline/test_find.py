"""Searching, and going from hit to hit."""

from __future__ import annotations

from stepscope.profile.timeline.timeline import Timeline

from .conftest import trace_of


def test_hits_come_by_time_and_go_round() -> None:
    trace = trace_of(("b", 50, 1), ("a", 0, 1), ("b", 20, 1, {"tid": 2}), ("b", 90, 10))
    finder = Timeline(trace).finder
    name = trace.events.name_index["b"]
    seen = [finder.find([name], at) for at in (0, 1, 2, 3, -1)]
    assert [one.hit and one.hit.start_ns for one in seen] == [20, 50, 90, 20, 90]
    assert [one.index for one in seen] == [0, 1, 2, 0, 2]
    assert {one.total for one in seen} == {3}


def test_the_first_hit_after_a_time_is_found() -> None:
    finder = Timeline(trace_of(("a", 0, 1), ("a", 40, 1), ("a", 80, 1))).finder
    assert [finder.find([0], None, after).index for after in (0, 1, 41, 81)] == [0, 1, 2, 0]


def test_marks_count_all_hits_along_the_axis() -> None:
    found = Timeline(trace_of(("a", 0, 1), ("a", 999, 1), ("b", 500, 1))).finder.find([0], 0)
    assert (sum(found.marks), found.marks[0], sum(found.marks[-4:])) == (2, 1, 1)


def test_nothing_is_found_for_names_that_are_not_there() -> None:
    found = Timeline(trace_of(("a", 0, 1))).finder.find([5, -3], 0)
    assert (found.total, found.hit) == (0, None)
