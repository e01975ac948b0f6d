"""What lanes are called, and their order."""

from __future__ import annotations

from stepscope.profile.timeline.timeline import Timeline
from stepscope.profile.trace.build import events_of
from stepscope.profile.trace.trace import Trace

from .conftest import trace_of


def named(kind: str, pid: object, value: object, tid: object = None) -> dict[str, object]:
    args = {"labels" if kind == "process_labels" else "sort_index" if kind.endswith("index") else "name": value}
    return {"ph": "M", "name": kind, "pid": pid, **({} if tid is None else {"tid": tid}), "args": args}


def event(name: str, cat: str, pid: object, tid: object) -> dict[str, object]:
    return {"ph": "X", "name": name, "cat": cat, "pid": pid, "tid": tid, "ts": 1, "dur": 2}


def test_the_program_comes_first_then_devices_workers_and_the_profilers_own() -> None:
    trace = Trace(
        events_of(
            [
                event("PyTorch Profiler (0)", "Trace", "Spans", "PyTorch Profiler"), event("gemm", "kernel", 0, 7),
                event("fetch", "data", 77, 77), event("aten::mm", "cpu_op", 5, 6), event("aten::add", "cpu_op", 5, 5),
                named("process_name", 5, "python3"), named("process_labels", 0, "GPU 0"),
                named("thread_name", 5, "thread 6 (pt_autograd_0)", 6), named("process_sort_index", 0, 16777216),
            ]
        )
    )  # fmt: skip
    timeline = Timeline(trace)
    shown = [(timeline.groups[lane.group].name, lane.name, lane.kind) for lane in timeline.lanes]
    assert shown == [
        ("python3 5", "Main thread", "host"),
        ("python3 5", "Thread 6 (pt_autograd_0)", "host"),
        ("GPU 0", "Stream 7", "device"),
        ("Loader worker 77", "Main thread", "worker"),
        ("Marks of the profiler", "PyTorch Profiler", "profiler"),
    ]


def test_a_lane_knows_how_long_it_was_busy() -> None:
    mark = {"cat": "user_annotation"}
    [lane] = Timeline(trace_of(("ProfilerStep#1", 0, 100, mark), ("a", 0, 30), ("inside", 5, 5), ("b", 50, 10))).lanes
    assert (lane.events, lane.depths, lane.outer, lane.busy_ns) == (4, 3, 1, 40)


def test_a_thread_that_only_waits_is_quiet() -> None:
    waits = ("threading.py(355): wait", 0, 90, {"tid": 2, "cat": "python_function"})
    lanes = Timeline(trace_of(("aten::mm", 0, 10), waits)).lanes
    assert [(lane.name, lane.quiet) for lane in lanes] == [("Main thread", False), ("Thread 2", True)]
    assert [lane.quiet for lane in Timeline(trace_of(waits)).lanes] == [False]


def test_thousands_of_lanes_are_laid_out() -> None:
    trace = trace_of(*((f"op {at % 7}", at, 10, {"tid": at % 3_000}) for at in range(9_000)))
    timeline = Timeline(trace)
    assert len(timeline.lanes) == 3_000
    assert sum(lane.events for lane in timeline.lanes) == 9_000
