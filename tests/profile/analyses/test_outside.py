"""What the steps show of a device, and what is named as outside, is all that the raw events hold."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from stepscope.profile.advice.headline import headline
from stepscope.profile.advice.measured import Measured
from stepscope.profile.analyses.categories import categories
from stepscope.profile.analyses.communication import communication
from stepscope.profile.analyses.overlap import overlap
from stepscope.profile.analyses.phases import phases_on_device
from stepscope.profile.analyses.steps import steps
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.outside import outside_ns
from stepscope.profile.trace.read import read_trace
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import StepParts

TRACES = Path(__file__).parents[2] / "samples" / "traces"
ON_DEVICE = ("kernel", "communication", "memcpy", "memset")
MS = 1_000_000
Span = tuple[int, int]


def covered(spans: list[Span]) -> int:
    """The time in which at least one span is going on: a plain sweep, sharing nothing with what it checks."""
    total, reach = 0, None
    for begin, end in sorted(spans):
        if reach is None or begin > reach:
            reach = begin
        total += max(0, end - reach)
        reach = max(reach, end)
    return total


def shown(found: StepParts) -> int:
    keys = [part.key for part in found.parts]
    return sum(row[keys.index(key)] for row in found.parts_ns for key in ON_DEVICE)


@pytest.mark.parametrize("name", ["h200", "h200_plain", "h200_busy", "two_ranks_rank0", "two_ranks_rank1"])
def test_real_traces_show_or_name_every_moment_of_the_device(name: str) -> None:
    with gzip.open(TRACES / f"{name}.json.gz") as file:
        raw = json.load(file)["traceEvents"]
    trace = Trace(read_trace(TRACES / f"{name}.json.gz", cache=False))
    work = [e for e in raw if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    exchanged = [e for e in raw if e.get("cat") == "user_annotation" and e["name"].startswith("gloo:")]
    spans = [(round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)) for e in work + exchanged]
    found = steps(trace)
    assert found is not None
    got, expected = shown(found) + outside_ns(trace), covered(spans)
    assert abs(got - expected) <= len(spans), "beyond the rounding of microseconds"
    assert all(check.ok for check in found.checks)


def a_trace(marks: list[tuple[int, int]], work: list[dict[str, int]]) -> Trace:
    """Steps of the host, and kernels that it launched at some moment and a device ran at a later one."""
    builder = Builder()
    at = 0
    for number, (pause, length) in enumerate(marks):
        builder.add(f"ProfilerStep#{number}", "user_annotation", start=at + pause, dur=length, pid=1, tid=1)
        at += pause + length
    for number, one in enumerate(work, 1):
        link = {"correlation": number, "stream": one["stream"], "device": 0}
        if one["linked"]:
            builder.add("cudaLaunchKernel", "cuda_runtime", start=one["launch"], dur=1, pid=1, tid=1, args=link)
        start = one["launch"] + one["delay"]
        builder.add("gemm", "kernel", start=start, dur=one["dur"], pid=0, tid=one["stream"], args=link)
    return Trace(builder.events())


WORK = st.fixed_dictionaries({"launch": st.integers(0, 90), "delay": st.integers(1, 60), "dur": st.integers(1, 40),
                              "stream": st.integers(7, 8), "linked": st.integers(0, 3)})  # fmt: skip


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 40)), min_size=1, max_size=4), st.lists(WORK, min_size=1))
def test_any_trace_shows_or_names_every_moment_of_the_device(
    marks: list[tuple[int, int]], work: list[dict[str, int]]
) -> None:
    trace = a_trace(marks, work)
    found = steps(trace)
    assert found is not None
    spans = [(one["launch"] + one["delay"], one["launch"] + one["delay"] + one["dur"]) for one in work]
    assert shown(found) + outside_ns(trace) == covered(spans)
    launched = [span for span, step in zip(spans, trace.step_of[trace.device_rows].tolist(), strict=True) if step >= 0]
    assert max([end for _, end in launched], default=0) <= trace.device_steps[-1].end_ns
    sheet = phases_on_device(trace)
    assert sheet is None or all(check.ok for check in sheet.checks)


def behind() -> Trace:
    """The host takes 10 ms a step and never waits; each step launches 15 ms of kernels."""
    builder = Builder()
    for step in range(4):
        builder.add(f"ProfilerStep#{step}", "user_annotation", start=step * 10 * MS, dur=10 * MS, pid=1, tid=1)
        link = {"correlation": step + 1, "device": 0, "stream": 7}
        builder.add("cudaLaunchKernel", "cuda_runtime", start=step * 10 * MS, dur=1000, pid=1, tid=1, args=link)
        builder.add("gemm", "kernel", start=step * 15 * MS + 1000, dur=15 * MS, pid=0, tid=7, args=link)
    return Trace(builder.events())


def test_kernels_after_the_last_mark_belong_to_the_step_that_launched_them() -> None:
    found = steps(behind())
    assert found is not None
    assert shown(found) == 60 * MS
    assert found.p50_ns == 15 * MS
    assert "after the host's last step mark" in " ".join(found.notes)


def test_the_typical_step_of_such_a_trace_is_as_long_as_its_kernels() -> None:
    run = Measured(Profile.of_events({0: behind().events}), facts={})
    assert run.step_ns >= 15 * MS
    assert run.share(run.idle_ns) < 0.01


def test_what_no_step_launched_is_named() -> None:
    trace = a_trace([(10, 20)], [{"launch": 0, "delay": 1, "dur": 4, "stream": 7, "linked": 1},
                                 {"launch": 60, "delay": 1, "dur": 3, "stream": 7, "linked": 1}])  # fmt: skip
    found = steps(trace)
    assert found is not None
    assert (shown(found), outside_ns(trace)) == (0, 7)
    assert "outside the steps the device works" in " ".join(found.notes)


@pytest.mark.parametrize("how", ["world", "group"])
def test_a_world_of_one_rank_hides_no_communication(how: str) -> None:
    builder = Builder()
    if how == "world":
        builder.header.fields["distributedInfo"] = {"backend": "nccl", "rank": 0, "world_size": 1}
    builder.add("ProfilerStep#1", "user_annotation", start=0, dur=100, pid=1, tid=1)
    builder.add("gemm", "kernel", start=0, dur=90, pid=0, tid=7)
    group: dict[str, Any] = {"Group size": 1} if how == "group" else {}
    builder.add("ncclDevKernel_AllReduce", "kernel", start=10, dur=20, pid=0, tid=8, args=group)
    events = builder.events()
    profile = Profile.of_events({0: events})
    assert overlap(profile) is None
    assert communication(profile) is None
    found = steps(Trace(events))
    assert found is not None
    assert "group of one rank exchange nothing" in " ".join(found.notes)
    assert all(check.ok for check in found.checks)


def test_mtia_device_events_are_work_of_the_device_and_others_are_named() -> None:
    builder = Builder()
    builder.add("ProfilerStep#1", "user_annotation", start=0, dur=100, pid=1, tid=1)
    builder.add("fc_kernel", "mtia_ccp_events", start=10, dur=40, pid=0, tid=7)
    builder.add("what", "mtia_workloadd", start=0, dur=30, pid=0, tid=9)
    trace = Trace(builder.events())
    found, sheet = steps(trace), categories(trace)
    assert found is not None
    assert sheet is not None
    assert shown(found) == 40
    assert "1 spans of unknown categories (mtia_workloadd)" in " ".join(found.notes)
    assert "mtia_workloadd (1 spans" in " ".join(sheet.notes)
    assert Measured(Profile.of_events({0: trace.events}), facts={}).kind == "mtia"


def test_a_long_idle_step_of_few_kernels_is_not_blamed_on_their_launches() -> None:
    builder = Builder()
    for step in range(4):
        begin = step * 40_000 * MS
        builder.add(f"ProfilerStep#{step}", "user_annotation", start=begin, dur=40_000 * MS, pid=1, tid=1)
        for at in range(80):
            link = {"correlation": step * 100 + at + 1, "device": 0, "stream": 7}
            when = begin + at * 100 * MS
            builder.add("cudaLaunchKernel", "cuda_runtime", start=when, dur=9000, pid=1, tid=1, args=link)
            builder.add("gemm", "kernel", start=when + 9000, dur=20_000, pid=0, tid=7, args=link)
    run = Measured(Profile.of_events({0: builder.events()}), facts={})
    assert "busy with other things than the 80 kernels" in headline(run).text
    from stepscope.profile.advice.engine import advise

    assert [one for one in advise(run) if one.finding.rule == "perf.launch-bound"] == []
