from __future__ import annotations

from typing import Any

import pytest

from stepscope.profile.analyses.copies import copies
from stepscope.profile.analyses.kernels import kernel_kinds, kernels
from stepscope.profile.analyses.launches import launches
from stepscope.profile.analyses.overview import devices
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Sheet


def rows_of(sheet: Sheet | None) -> list[dict[str, Any]]:
    assert sheet is not None
    keys = [column.key for column in sheet.columns]
    return [dict(zip(keys, row, strict=True)) for row in sheet.rows]


def test_kernels_sum_to_what_is_in_the_file(h200: Trace, h200_raw: list[Any]) -> None:
    found = rows_of(kernels(h200))
    raw: dict[str, list[float]] = {}
    for event in h200_raw:
        if event.get("cat") == "kernel":
            raw.setdefault(event["name"], []).append(event["dur"])
    for name, durations in raw.items():
        mine = [row for row in found if row["full_name"] == name]
        assert sum(row["calls"] for row in mine) == len(durations)
        assert sum(row["total_ns"] for row in mine) / 1000 == pytest.approx(sum(durations), abs=0.001 * len(durations))
        assert max(row["max_ns"] for row in mine) / 1000 == pytest.approx(max(durations), abs=0.001)
        assert min(row["min_ns"] for row in mine) / 1000 == pytest.approx(min(durations), abs=0.001)
    assert sum(row["calls"] for row in rows_of(kernel_kinds(h200))) == sum(map(len, raw.values()))


def test_occupancy_is_weighted_by_time_and_unknown_where_the_profiler_did_not_know() -> None:
    builder = Builder()
    fits = {"blocks per SM": 2.0, "warps per SM": 8.0, "grid": [4, 1, 1], "block": [64, 1, 1], "stream": 7}
    builder.add("k", "kernel", start=0, dur=30, args={**fits, "est. achieved occupancy %": 10})
    builder.add("k", "kernel", start=40, dur=10, args={**fits, "est. achieved occupancy %": 50})
    builder.add("big", "kernel", start=60, dur=10, args={**fits, "est. achieved occupancy %": 0})
    found = {row["name"]: row for row in rows_of(kernels(Trace(builder.events())))}
    assert found["k"]["occupancy"] == pytest.approx((30 * 0.1 + 10 * 0.5) / 40)
    assert found["k"]["grid"] == "4, 1, 1"
    assert found["big"]["occupancy"] is None


def test_copies_have_bytes_direction_and_speed(h200: Trace, h200_raw: list[Any]) -> None:
    found = rows_of(copies(h200))
    to_device = [row for row in found if row["way"] == "host to device"]
    raw = [e for e in h200_raw if e.get("cat") == "gpu_memcpy" and "HtoD" in e["name"]]
    assert sum(row["bytes"] for row in to_device) == sum(e["args"]["bytes"] for e in raw) == 65536
    time = sum(e["dur"] for e in raw) / 1e6
    assert to_device[0]["bandwidth"] == pytest.approx(65536 / time, rel=1e-3)
    assert to_device[0]["memory"] == "Pinned -> Device"


def test_a_copy_under_a_kernel_is_not_exposed() -> None:
    builder = Builder()
    builder.add("k", "kernel", start=0, dur=30, pid=0, tid=7)
    builder.add("Memcpy DtoD (Device -> Device)", "gpu_memcpy", start=20, dur=40, pid=0, tid=9, args={"bytes": 4000})
    (row,) = rows_of(copies(Trace(builder.events())))
    assert (row["total_ns"], row["exposed_ns"], row["bandwidth"]) == (40, 30, 1e11)


def test_short_kernels_and_dear_launches_are_counted() -> None:
    builder = Builder()
    for n, (length, delay) in enumerate([(2_000, 1_000), (50_000, 400), (3_000, 0)]):
        at = n * 100_000
        builder.add("aten::add", "cpu_op", start=at, dur=9_000, pid=1)
        builder.add("cudaLaunchKernel", "cuda_runtime", start=at + 1_000, dur=5_000, pid=1, args={"correlation": n})
        builder.add("k", "kernel", start=at + 6_000 + delay, dur=length, args={"correlation": n})
    (row,) = rows_of(launches(Trace(builder.events())))
    assert (row["launches"], row["short"], row["dearer"]) == (3, 2, 2)
    assert (row["launch_ns"], row["kernel_ns"], row["delay_max_ns"]) == (15_000, 55_000, 1_000)


def test_kernels_of_a_graph_share_its_launch() -> None:
    builder = Builder()
    builder.add("cudaGraphLaunch", "cuda_runtime", start=0, dur=90, pid=1, args={"correlation": 1})
    for n in range(3):
        builder.add("k", "kernel", start=100 + 10 * n, dur=5, args={"correlation": 1})
    (row,) = rows_of(launches(Trace(builder.events())))
    assert (row["launches"], row["launch_ns"]) == (3, 90)


def test_a_device_at_a_glance(h200: Trace, h200_raw: list[Any]) -> None:
    (row,) = rows_of(devices(h200))
    assert (row["name"], row["kernels"], row["multiprocessors"]) == ("NVIDIA H200", 282, 132)
    assert 0.05 < row["busy_share"] < 0.07
    core = sum(
        e["dur"] for e in h200_raw if e.get("cat") == "kernel" and ("nvjet" in e["name"] or "wgmma" in e["name"])
    )
    every = sum(e["dur"] for e in h200_raw if e.get("cat") == "kernel")
    assert row["tensor_core_share"] == pytest.approx(core / every, abs=1e-4)
    assert 0 < row["mfu"] < row["tensor_core_share"]


def test_a_trace_without_a_device_has_none_of_these() -> None:
    builder = Builder()
    builder.add("aten::mm", "cpu_op", start=0, dur=10)
    trace = Trace(builder.events())
    assert [make(trace) for make in (kernels, kernel_kinds, copies, launches, devices)] == [None] * 5
