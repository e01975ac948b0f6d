from __future__ import annotations

from typing import Any

import pytest

from stepscope.profile.analyses.idle import idle, idle_causes
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Sheet

US = 1000


def rows_of(sheet: Sheet | None) -> list[dict[str, Any]]:
    assert sheet is not None
    keys = [column.key for column in sheet.columns]
    return [dict(zip(keys, row, strict=True)) for row in sheet.rows]


def launched(builder: Builder, op: str, at: int, start: int, dur: int, number: int, tid: int = 7) -> None:
    """An operator whose launch begins at `at` and whose kernel runs later; times in microseconds."""
    builder.add(op, "cpu_op", start=(at - 2) * US, dur=10 * US, pid=1, tid=1)
    builder.add(
        "cudaLaunchKernel", "cuda_runtime", start=at * US, dur=5 * US, pid=1, tid=1, args={"correlation": number}
    )
    args = {"correlation": number, "device": 0, "stream": tid}
    builder.add(f"kernel_{number}", "kernel", start=start * US, dur=dur * US, pid=0, tid=tid, args=args)


def five_gaps() -> Trace:
    """0 to 1000 us, and one gap of each cause."""
    builder = Builder()
    builder.add("ProfilerStep#1", "user_annotation", start=0, dur=1000 * US, pid=1, tid=1)
    builder.add("enumerate(DataLoader)#X.__next__", "user_annotation", start=0, dur=80 * US, pid=1, tid=1)
    launched(builder, "aten::mm", 90, 100, 100, 1)  # 0 to 100: data
    launched(builder, "aten::add", 110, 205, 95, 2)  # 200 to 205: launched long before: between kernels
    launched(builder, "aten::mul", 390, 400, 100, 3)  # 300 to 400: launched in the gap: the host is late
    builder.add("cudaDeviceSynchronize", "cuda_runtime", start=450 * US, dur=60 * US, pid=1, tid=1)
    launched(builder, "aten::sub", 590, 600, 100, 4)  # 500 to 600: the host had waited for the device
    launched(builder, "aten::div", 620, 900, 100, 5)  # 700 to 900: launched before it, came late: other
    return Trace(builder.events())


def test_each_gap_has_its_cause() -> None:
    (device,) = rows_of(idle(five_gaps()))
    assert device["busy_ns"] == 495 * US
    assert device["idle_ns"] == 505 * US
    causes = {key: device[f"{key}_ns"] // US for key in ("data", "kernel", "host", "sync", "other")}
    assert causes == {"data": 100, "kernel": 5, "host": 100, "sync": 100, "other": 200}


def test_gaps_name_the_operator_that_ended_them() -> None:
    found = rows_of(idle_causes(five_gaps()))
    late = next(row for row in found if row["cause"] == "Host late")
    assert (late["next"], late["gaps"], late["total_ns"]) == ("aten::mul", 1, 100 * US)
    data = next(row for row in found if row["cause"] == "Data")
    assert data["doing"] == "enumerate(DataLoader)#X.__next__"


def test_streams_are_told_apart_and_the_device_is_busy_when_one_of_them_is() -> None:
    builder = Builder()
    builder.add("ProfilerStep#1", "user_annotation", start=0, dur=100 * US, pid=1, tid=1)
    launched(builder, "aten::mm", 10, 20, 40, 1, tid=7)
    launched(builder, "aten::mm", 30, 50, 30, 2, tid=9)
    sheet = idle(Trace(builder.events()))
    assert sheet is not None
    found = {row["where"]: (row["busy_ns"] // US, row["idle_ns"] // US) for row in rows_of(sheet)}
    assert found == {"device 0": (60, 40), "stream 7": (40, 60), "stream 9": (30, 70)}
    assert sheet.levels == [0, 1, 1]


@pytest.mark.parametrize("name", ["h200", "h200_plain", "two_ranks"])
def test_checks_of_real_traces_hold(name: str, request: pytest.FixtureRequest) -> None:
    trace = request.getfixturevalue(name)
    for sheet in (idle(trace), idle_causes(trace)):
        assert sheet is not None
        assert all(check.ok for check in sheet.checks)
    (device, *_) = rows_of(idle(trace))
    assert sum(device[f"{key}_ns"] for key in ("data", "kernel", "host", "sync", "other")) == device["idle_ns"]
