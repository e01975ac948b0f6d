"""Whatever is in a trace, the analyses answer, and their checks hold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from stepscope.profile.analyses.compile import compiled
from stepscope.profile.analyses.copies import copies
from stepscope.profile.analyses.critical_path import on_critical_path
from stepscope.profile.analyses.flops import flops
from stepscope.profile.analyses.idle import idle, idle_causes
from stepscope.profile.analyses.kernels import kernel_kinds, kernels
from stepscope.profile.analyses.launches import launches
from stepscope.profile.analyses.operators import operators, operators_by_line, operators_by_shape
from stepscope.profile.analyses.overview import devices
from stepscope.profile.analyses.phases import phases, phases_on_device
from stepscope.profile.analyses.ranges import ranges
from stepscope.profile.analyses.steps import steps
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Sheet, StepParts

OF_A_TRACE = [
    copies,
    devices,
    flops,
    idle,
    idle_causes,
    kernel_kinds,
    kernels,
    launches,
    on_critical_path,
    operators,
    operators_by_line,
    operators_by_shape,
    phases,
    phases_on_device,
    ranges,
    steps,
]

HOST = [
    ("aten::mm", "cpu_op"),
    ("aten::linear", "cpu_op"),
    ("aten::linear", "Operator"),
    ("aten::convolution", "cpu_op"),
    ("autograd::engine::evaluate_function: MmBackward0", "cpu_op"),
    ("aten::to", "cpu_op"),
    ("dynamo", "cpu_op"),
    ("Torch-Compiled Region: 0/1", "cpu_op"),
    ("dynamo_data: compile_id=0/1", "user_annotation"),
    ("ProfilerStep#3", "user_annotation"),
    ("ProfilerStep#4", "user_annotation"),
    ("gloo:all_reduce", "user_annotation"),
    ("enumerate(DataLoader)#X.__next__", "user_annotation"),
    ("Optimizer.step#SGD.step", "user_annotation"),
    ("cudaLaunchKernel", "cuda_runtime"),
    ("cudaDeviceSynchronize", "cuda_runtime"),
    ("hipMemcpyAsync", "hip_runtime"),
    ("train.py(3): step", "python_function"),
    ("forward", "phase"),
    ("data", "phase"),
    ("?", "what is this"),
]
DEVICE = [
    ("void gemm<float>(int)", "kernel"),
    ("ncclDevKernel_AllReduce", "kernel"),
    ("nvjet_x", "Kernel"),
    ("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy"),
    ("Memset (Device)", "gpu_memset"),
    ("(((", "kernel"),
]
DIMS = st.sampled_from(["[[2, 3], [3, 4]]", "[[], [[1], [2]]]", "nonsense", "", "{}", "[[2, 3]]", "[1, null]"])
TIME = st.integers(0, 60)


def event(choice: list[tuple[str, str]]) -> st.SearchStrategy[dict[str, Any]]:
    extra = {
        "correlation": st.integers(0, 4),
        "device": st.integers(0, 1),
        "stream": st.integers(7, 8),
        "External id": st.integers(0, 5),
        "Input Dims": DIMS,
        "Input type": st.sampled_from(['["float"]', "[1]", "x"]),
        "Sequence number": st.integers(0, 3),
        "bytes": st.integers(0, 9),
        "blocks per SM": st.floats(0, 3),
        "est. achieved occupancy %": st.integers(0, 100),
        "warps per SM": st.floats(0, 64),
    }
    return st.fixed_dictionaries(
        {
            "what": st.sampled_from(choice),
            "start": TIME,
            "dur": st.integers(-1, 40),
            "tid": st.integers(1, 2),
            "ph": st.sampled_from("XXXXXXiB"),
            "args": st.fixed_dictionaries({}, optional=extra),
        }
    )


def built(host: list[dict[str, Any]], device: list[dict[str, Any]]) -> Trace:
    builder = Builder()
    for pid, found in ((1, host), (0, device)):
        for one in found:
            name, cat = one["what"]
            dur = max(one["dur"], 0) if pid == 0 else one["dur"]
            ph = "X" if pid == 0 else one["ph"]
            builder.add(name, cat, start=one["start"], dur=dur, pid=pid, tid=one["tid"], ph=ph, args=one["args"])
    return Trace(builder.events())


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(event(HOST), max_size=14), st.lists(event(DEVICE), max_size=8))
def test_any_events_get_an_answer_that_adds_up(host: list[dict[str, Any]], device: list[dict[str, Any]]) -> None:
    trace = built(host, device)
    answers = [make(trace) for make in OF_A_TRACE]
    answers.append(compiled(Profile.of_events({0: trace.events}), 0))
    for answer in answers:
        if isinstance(answer, Sheet):
            assert all(len(row) == len(answer.columns) for row in answer.rows)
            assert all(isinstance(cell, str | int | float | bool | None) for row in answer.rows for cell in row)
            assert not any(cell != cell for row in answer.rows for cell in row), "NaN is no value: None is"
        if answer is not None:
            exact = [check for check in answer.checks if check.name not in ALLOWED]
            assert [check for check in exact if not check.ok] == [], answer.id
        if isinstance(answer, StepParts):
            assert [sum(row) for row in answer.parts_ns] == answer.wall_ns


ALLOWED = {"self times sum to the outer operators", "no faster than the device's peak"}
"""Random spans cross and kernels take no time: then these are rightly shown as failed."""


@pytest.mark.parametrize("make", OF_A_TRACE)
def test_an_empty_trace_has_no_answer(make: Any) -> None:
    assert make(Trace(Builder().events())) is None
