"""Where events are drawn."""

from __future__ import annotations

import numpy as np

from stepscope.profile.timeline.lines import Lines, lay_out
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace

from .conftest import names_of, trace_of


def drawn(trace: Trace, lines: Lines) -> dict[tuple[int, int], list[str]]:
    """The names in each line, by lane and depth."""
    return {
        (int(lines.lane[at]), int(lines.depth[at])): names_of(trace, lines.row[lines.first[at] : lines.first[at + 1]])
        for at in range(len(lines.lane))
    }


def overlaps(lines: Lines, slack: int) -> int:
    """How many events begin more than `slack` before the one before them in their line ends."""
    end = lines.key + lines.dur
    same = np.diff(lines.key >> lines.bits) == 0
    return int((same & (end[:-1] - lines.key[1:] > slack)).sum())


def test_an_event_stands_below_the_one_around_it() -> None:
    trace = trace_of(
        ("step", 0, 100), ("forward", 10, 40), ("linear", 12, 5), ("loss", 60, 10), ("other", 5, 90, {"tid": 2})
    )
    assert drawn(trace, lay_out(trace)) == {
        (0, 0): ["step"],
        (0, 1): ["forward", "loss"],
        (0, 2): ["linear"],
        (1, 0): ["other"],
    }


def test_times_count_from_the_first_event_and_keep_every_nanosecond() -> None:
    trace = trace_of(("a", 7, 3), ("b", 1_000_000_007, 1), base=1_700_000_000_000_000_000)
    lines = lay_out(trace)
    assert (lines.base_ns, lines.span_ns) == (1_700_000_000_000_000_007, 1_000_000_001)
    assert lines.start.tolist() == [0, 1_000_000_000]


def test_spans_that_cross_get_lines_of_their_own() -> None:
    trace = trace_of(("a", 0, 10_000), ("b", 5_000, 10_000), ("c", 12_000, 10_000), ("d", 13_000, 1_000))
    lines = lay_out(trace)
    assert overlaps(lines, 0) == 0
    assert sorted(name for names in drawn(trace, lines).values() for name in names) == ["a", "b", "c", "d"]


def test_neighbours_that_overlap_by_rounding_share_a_line() -> None:
    trace = trace_of(("a", 0, 50_001), ("b", 50_000, 50_000))
    assert drawn(trace, lay_out(trace))[0, 0] == ["a"]
    both = trace_of(("whole", 0, 100_000), ("a", 0, 50_400), ("inside", 10, 50_500), ("b", 50_000, 50_000))
    assert overlaps(lay_out(both), 1_000) == 0


def test_marks_of_steps_stand_over_their_lane() -> None:
    mark = {"cat": "user_annotation"}
    trace = trace_of(("main", 0, 100), ("step()", 5, 10), ("ProfilerStep#1", 8, 80, mark), ("forward", 20, 30))
    lines = lay_out(trace)
    assert drawn(trace, lines) == {(0, 0): ["ProfilerStep#1"], (0, 1): ["main"], (0, 2): ["step()", "forward"]}
    assert lines.outer.tolist() == [False, True, False]


def test_the_script_is_the_root_and_stepscopes_own_calls_are_not_drawn() -> None:
    python = {"cat": "python_function"}
    trace = trace_of(
        ("/opt/bin/stepscope(8): <module>", 0, 100, python),
        ("click/core.py(1): invoke", 1, 98, python),
        ("stepscope/launch/script.py(1): run_as_main", 2, 96, python),
        ("<built-in method exec>", 5, 90, python),
        ("train.py(20): <module>", 10, 80, python),
        ("stepscope/events/loaders.py(3): __next__", 20, 30, python),
        ("torch/utils/data/dataloader.py(720): __next__", 25, 20, python),
        ("aten::mm", 30, 10),
    )
    lines = lay_out(trace)
    loader = "torch/utils/data/dataloader.py(720): __next__"
    assert drawn(trace, lines) == {(0, 0): ["train.py(20): <module>"], (0, 1): [loader], (0, 2): ["aten::mm"]}
    assert (lines.span_ns, lines.place_of(1)) == (80, None)


def test_annotations_of_a_stream_stand_over_its_kernels() -> None:
    mark, work = {"cat": "gpu_user_annotation"}, {"cat": "kernel"}
    trace = trace_of(
        ("ProfilerStep#1", 0, 90, mark), ("forward", 5, 40, mark), ("gemm", 6, 10, work), ("add", 60, 5, work)
    )
    lines = lay_out(trace)
    assert drawn(trace, lines) == {(0, 0): ["ProfilerStep#1"], (0, 1): ["forward"], (0, 2): ["gemm", "add"]}
    assert (lines.marks.tolist(), lines.outer.tolist()) == ([True, True, False], [False, False, True])
    alone = lay_out(trace_of(("ProfilerStep#1", 0, 90, mark)))
    assert (alone.marks.tolist(), alone.outer.tolist()) == ([False], [True])


def test_flows_and_allocations_are_not_drawn_but_counted() -> None:
    trace = trace_of(
        ("op", 0, 10),
        ("[memory]", 2, 0, {"ph": "i", "cat": "cpu_instant_event"}),
        ("ac2g", 3, 0, {"ph": "s", "cat": "ac2g"}),
    )
    lines = lay_out(trace)
    assert (len(lines), lines.hidden) == (1, 2)


def test_an_event_without_an_end_lasts_to_the_end() -> None:
    lines = lay_out(trace_of(("open", 10, -1, {"ph": "B"}), ("op", 0, 100)))
    assert sorted(zip(lines.start.tolist(), lines.dur.tolist(), strict=True)) == [(0, 100), (10, 90)]


def test_a_clock_that_is_off_by_decades_does_not_stretch_the_axis() -> None:
    wrong = [("long ago", -1_600_000_000_000_000_000, 5), ("some day", 10**18, 10**17, {"tid": 9})]
    trace = trace_of(("op", 0, 1_000), ("next", 2_000, 50), *wrong, base=1_700_000_000_000_000_000)
    lines = lay_out(trace)
    assert (lines.base_ns, lines.span_ns, lines.moved) == (1_700_000_000_000_000_000, 2_050, 2)


def test_an_empty_trace_has_no_lines() -> None:
    lines = lay_out(trace_of())
    assert (len(lines), lines.lane.tolist(), lines.of_lane(0).tolist()) == (0, [], [])


def test_every_event_of_a_real_trace_is_drawn_once_and_without_overlap(h200: Trace) -> None:
    lines = lay_out(h200)
    expected = np.flatnonzero((h200.kind != Kind.FLOW) & (h200.kind != Kind.MEMORY))
    assert sorted(lines.row.tolist()) == expected.tolist()
    assert (np.diff(lines.key) >= 0).all()
    assert overlaps(lines, 1_000) == 0


def test_the_event_above_is_the_one_around(h200: Trace) -> None:
    lines = lay_out(h200)
    places = np.arange(len(lines))
    above = lines.above(places)
    inside = above >= 0
    assert inside.mean() > 0.8
    start = lines.start
    assert (start[above[inside]] <= start[inside]).all()
    assert (start[above[inside]] + lines.dur[above[inside]] > start[inside]).all()
    same_lane = lines.lane[lines.line_of(above[inside])] == lines.lane[lines.line_of(places[inside])]
    assert same_lane.all()


def test_a_thousand_spans_at_once_end_in_time() -> None:
    trace = trace_of(*((f"async {at}", at * 2_000, 10_000_000) for at in range(1_000)))
    assert len(lay_out(trace)) == 1_000
