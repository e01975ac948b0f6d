from __future__ import annotations

import pytest

from stepscope.profile.analyses.critical_path import on_critical_path
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Sheet

US = 1000


def path_of(sheet: Sheet | None) -> dict[tuple[str, str], int]:
    assert sheet is not None
    assert all(check.ok for check in sheet.checks)
    return {(row[0], row[1]): row[2] // US for row in sheet.rows}


class Scene:
    """Host events on one thread, kernels on streams; times in microseconds."""

    def __init__(self, length: int) -> None:
        self.builder = Builder()
        self.number = 0
        self.builder.add("ProfilerStep#1", "user_annotation", start=0, dur=length * US, pid=1, tid=1)

    def op(self, name: str, start: int, dur: int) -> None:
        self.builder.add(name, "cpu_op", start=start * US, dur=dur * US, pid=1, tid=1)

    def call(self, name: str, start: int, dur: int, correlation: int = -1) -> None:
        args = {"correlation": correlation} if correlation >= 0 else {}
        self.builder.add(name, "cuda_runtime", start=start * US, dur=dur * US, pid=1, tid=1, args=args)

    def kernel(self, name: str, launch: int, start: int, dur: int, stream: int = 7) -> None:
        self.number += 1
        self.call("cudaLaunchKernel", launch, 2, self.number)
        args = {"correlation": self.number, "device": 0, "stream": stream}
        self.builder.add(name, "kernel", start=start * US, dur=dur * US, pid=0, tid=stream, args=args)

    def path(self) -> dict[tuple[str, str], int]:
        return path_of(on_critical_path(Trace(self.builder.events())))


def test_a_step_lasts_until_its_work_is_done_though_the_host_never_waits() -> None:
    scene = Scene(100)
    scene.op("aten::mm", 10, 50)
    scene.kernel("gemm", 20, 30, 500)
    assert scene.path() == {
        ("kernel", "gemm"): 500,
        ("between", "launch to start"): 10,
        ("host", "aten::mm"): 10,
        ("host", "between operators (Python)"): 10,
    }


def test_a_wait_leads_along_the_kernels_to_the_launch_of_the_first() -> None:
    scene = Scene(400)
    scene.op("aten::mm", 0, 20)
    scene.kernel("gemm", 10, 30, 100)  # launched at 10, starts at 30
    scene.kernel("relu", 15, 132, 168)  # behind it in the queue: 130 to 132
    scene.call("cudaStreamSynchronize", 25, 280)  # returns at 305
    scene.op("aten::add", 310, 50)
    assert scene.path() == {
        ("host", "aten::add"): 50,
        ("host", "between operators (Python)"): 5 + 40,  # 305 to 310 and 360 to 400
        ("between", "return from a wait"): 5,
        ("kernel", "relu"): 168,
        ("between", "between pieces of work"): 2,
        ("kernel", "gemm"): 100,
        ("between", "launch to start"): 20,
        ("host", "aten::mm"): 10,
    }


def test_after_a_pause_the_path_goes_on_with_the_stream_that_was_waited_for() -> None:
    scene = Scene(400)
    scene.kernel("gemm", 5, 10, 40)  # 10 to 50
    scene.kernel("ncclDevKernel_AllReduce", 6, 50, 250, stream=9)  # 50 to 300 on another stream
    scene.kernel("adam", 7, 301, 50)  # on the first stream again, but after the other
    scene.call("cudaDeviceSynchronize", 20, 340)
    found = scene.path()
    assert found[("communication", "ncclDevKernel_AllReduce")] == 250
    assert found[("kernel", "adam")] == 50


def test_a_wait_for_nothing_binds_nothing() -> None:
    scene = Scene(100)
    scene.kernel("gemm", 5, 8, 10)
    scene.call("cudaDeviceSynchronize", 50, 3)  # long after the kernel
    assert scene.path() == {("host", "between operators (Python)"): 100}


@pytest.mark.parametrize("name", ["h200", "h200_plain", "h200_busy", "two_ranks"])
def test_the_path_of_a_real_step_is_as_long_as_the_step(name: str, request: pytest.FixtureRequest) -> None:
    sheet = on_critical_path(request.getfixturevalue(name))
    assert sheet is not None
    (check,) = sheet.checks
    assert check.ok
    assert check.got == check.expected > 10_000_000
    assert sum(row[2] for row in sheet.rows) == check.expected


def test_a_busy_device_is_the_path(h200_busy: Trace) -> None:
    found = path_of(on_critical_path(h200_busy))
    products = sum(length for (where, what), length in found.items() if where == "kernel" and what.startswith("nvjet"))
    assert products > 0.85 * sum(found.values())
