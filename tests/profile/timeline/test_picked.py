"""One event, what is around it, and its arrows."""

from __future__ import annotations

import pytest

from stepscope.errors import NotFound
from stepscope.profile.timeline.timeline import Timeline
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace

from .conftest import names_of, trace_of


def test_an_operator_shows_its_shapes_its_surroundings_and_its_kernel() -> None:
    runtime, device = {"cat": "cuda_runtime", "correlation": 7}, {"pid": 0, "tid": 7, "cat": "kernel", "correlation": 7}
    shapes = {
        "Input Dims": [[8, 16], []],
        "Input type": ["float", ""],
        "Call stack": "train.py(3): step;train.py(9): main",
    }
    trace = trace_of(
        ("train.py(3): step", 0, 100, {"cat": "python_function"}), ("aten::mm", 10, 50, shapes),
        ("cudaLaunchKernel", 20, 10, runtime), ("gemm", 70, 40, device),
    )  # fmt: skip
    found = Timeline(trace).pick(1)
    assert (found.at.name, found.at.start_ns, found.at.dur_ns, found.self_ns) == ("aten::mm", 10, 50, 40)
    assert (found.kind, found.category, found.children) == ("op", "cpu_op", 1)
    assert [spot.name for spot in found.inside] == ["train.py(3): step"]
    assert (found.shapes, found.dtypes) == (["[8, 16]", "[]"], ["float", ""])
    assert found.stack == ["train.py(3): step", "train.py(9): main"]
    assert [(arrow.relation, arrow.to.name, arrow.to.lane) for arrow in found.arrows] == [("launches", "gemm", 1)]
    kernel = Timeline(trace).pick(3)
    assert [(arrow.relation, arrow.to.name) for arrow in kernel.arrows] == [("launched by", "cudaLaunchKernel")]


def test_own_time_is_what_nothing_inside_covers() -> None:
    mark = {"cat": "user_annotation"}
    trace = trace_of(("f", 0, 100), ("g", 20, 30), ("h", 90, 40), ("ProfilerStep#1", 10, 300, mark), ("z", 200, 50))
    assert [Timeline(trace).pick(row).self_ns for row in range(5)] == [100 - 30 - 10, 30, 40, 300 - 90 - 50, 50]


def test_forward_and_backward_point_at_each_other() -> None:
    node = "autograd::engine::evaluate_function: MmBackward0"
    trace = trace_of(
        ("aten::mm", 0, 10, {"Sequence number": 5, "Fwd thread id": 0}),
        (node, 50, 30, {"tid": 2, "Sequence number": 5, "Fwd thread id": 1}),
    )
    timeline = Timeline(trace)
    assert [(arrow.relation, arrow.to.event) for arrow in timeline.pick(0).arrows] == [("backward", 1)]
    assert [(arrow.relation, arrow.to.event) for arrow in timeline.pick(1).arrows] == [("forward", 0)]


def test_frames_around_an_event_are_its_stack_when_it_has_none_of_its_own(h200: Trace) -> None:
    timeline = Timeline(h200)
    ops = h200.rows(Kind.OP)
    mm = next(
        int(row)
        for row in ops
        if names_of(h200, [int(row)]) == ["aten::addmm"] or "mm" in names_of(h200, [int(row)])[0]
    )
    found = timeline.pick(mm)
    assert found.stack
    assert found.stack[-1].startswith("gpu_trace.py(45)")
    assert found.step == 4
    assert found.module


def test_every_kernel_of_a_real_trace_points_at_its_launch(h200: Trace) -> None:
    timeline = Timeline(h200)
    for row in h200.rows(Kind.KERNEL)[::10].tolist():
        assert [arrow.relation for arrow in timeline.pick(row).arrows] == ["launched by"]


@pytest.mark.parametrize("row", [-1, 2, 10**9])
def test_an_event_that_is_not_there_is_not_found(row: int) -> None:
    trace = trace_of(("a", 0, 1), ("b", 2, 1), ("[memory]", 0, 0, {"ph": "i", "cat": "cpu_instant_event"}))
    with pytest.raises(NotFound, match="no event"):
        Timeline(trace).pick(row)


def test_a_huge_argument_is_cut() -> None:
    found = Timeline(trace_of(("a", 0, 1, {"note": "x" * 100_000, "Input Dims": "[[1, 2"}))).pick(0)
    assert [one.value[-22:] for one in found.arguments if one.name == "note"] == [" … (100,000 characters)"[-22:]]
    assert found.shapes == ["[[1, 2"]
