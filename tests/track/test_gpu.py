"""Values on a device are copied without waiting, arrive in order, and keep their step and time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import stepscope
from stepscope.track import gpu
from stepscope.track.gpu import DeviceQueue

Reader = Callable[[Path], Any]


class FakeRow:
    """A row whose value arrives when the test says so."""

    def __init__(self, number: int, written: list[int], ready: bool = False) -> None:
        self.number = number
        self.ready = ready
        self.written = written
        self.error: Exception | None = None

    def is_ready(self) -> bool:
        if self.error is not None:
            raise self.error
        return self.ready

    def finish(self) -> None:
        self.written.append(self.number)


@pytest.fixture
def lost() -> list[tuple[int, str]]:
    return []


@pytest.fixture
def queue(lost: list[tuple[int, str]]) -> Iterator[DeviceQueue]:
    made = DeviceQueue(lambda count, reason: lost.append((count, reason)))
    yield made
    made.close()


def test_rows_are_written_in_order_when_they_arrive(queue: DeviceQueue) -> None:
    written: list[int] = []
    rows: list[Any] = [FakeRow(number, written) for number in range(3)]
    for row in rows:
        queue.add(row)
    rows[1].ready = True
    queue.write_ready()
    assert written == []
    rows[0].ready = True
    queue.write_ready()
    assert written == [0, 1]
    rows[2].ready = True
    queue.drain()
    assert written == [0, 1, 2]


def test_a_thread_writes_rows_when_nobody_logs_any_more(queue: DeviceQueue) -> None:
    written: list[int] = []
    row: Any = FakeRow(0, written)
    queue.add(row)
    row.ready = True
    deadline = time.monotonic() + 300
    while not written and time.monotonic() < deadline:
        time.sleep(0.01)
    assert written == [0]


def test_a_device_that_fails_loses_its_rows_and_says_so(queue: DeviceQueue, lost: list[tuple[int, str]]) -> None:
    row: Any = FakeRow(0, [])
    row.error = RuntimeError("device-side assert")
    queue.add(row)
    queue.drain()
    assert lost == [(1, "the device failed (device-side assert)")]


def test_a_device_that_hangs_is_given_up_after_a_while(queue: DeviceQueue, lost: list[tuple[int, str]]) -> None:
    never: Any = FakeRow(0, [])
    queue.add(never)
    queue.drain(timeout_s=0.05)
    assert lost == [(1, "the device did not answer for 0.05 s")]


def test_memory_is_bounded(queue: DeviceQueue, lost: list[tuple[int, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "MAX_WAITING", 5)
    rows: list[Any] = [FakeRow(number, []) for number in range(8)]
    for row in rows:
        queue.add(row)
    assert sum(count for count, _ in lost) == 3
    for row in rows:
        row.ready = True


class FakeDeviceTensor(torch.Tensor):
    """A tensor that says it lies on a device without CUDA's events."""

    @property
    def device(self) -> Any:  # type: ignore[override]
        return torch.device("xla")


def test_other_devices_are_read_in_the_background_not_by_the_caller(
    store: Path, recorded: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers: list[str] = []
    item = torch.Tensor.item

    def spy(self: torch.Tensor) -> Any:
        readers.append(threading.current_thread().name)
        return item(self)

    monkeypatch.setattr(torch.Tensor, "item", spy)
    run = stepscope.init(dir=store, system=False, git=False)
    value = torch.tensor(1.0).as_subclass(FakeDeviceTensor)
    run.log({"x": value, "y": 2.0})
    value.fill_(99.0)
    run.log({"x": value, "y": 3.0})
    run.finish()
    read = recorded(run.path)  # type: ignore[arg-type]
    assert read.points("x") == [(0, 1.0), (1, 99.0)]
    assert read.points("y") == [(0, 2.0), (1, 3.0)]
    assert set(readers) == {DeviceQueue.THREAD}


cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@cuda
def test_cuda_values_are_those_at_the_time_of_the_call(store: Path, recorded: Reader) -> None:
    run = stepscope.init(dir=store, system=False, git=False)
    x = torch.zeros((), device="cuda")
    half = torch.zeros((), device="cuda", dtype=torch.bfloat16)
    count = torch.tensor(2**60 + 1, device="cuda")
    for step in range(500):
        x += 1
        run.log({"x": x, "y": float(step), "half": half, "n": count, "many": torch.ones(3, device="cuda")})
        x *= 1.0
    run.finish()
    read = recorded(run.path)  # type: ignore[arg-type]
    assert read.points("x") == [(step, step + 1.0) for step in range(500)]
    assert read.points("y") == [(step, float(step)) for step in range(500)]
    assert read.points("n") == [(step, 2**60 + 1) for step in range(500)]


@cuda
def test_logging_never_waits_for_the_device(store: Path, recorded: Reader) -> None:
    run = stepscope.init(dir=store, system=False, git=False)
    a = torch.randn(8192, 8192, device="cuda")
    run.log({"x": a.mean(), "y": a.std()})  # first use: allocates pinned memory
    torch.cuda.synchronize()
    for _ in range(20):
        a = a @ a
        a = a / a.norm()
    run.log({"x": a.mean(), "y": a.std()})
    busy = not torch.cuda.current_stream().query()
    torch.cuda.synchronize()
    run.finish()
    assert busy, "logging waited for the device, or its work was over before: make the test's work larger"
    assert len(recorded(run.path).points("x")) == 2  # type: ignore[arg-type]


@cuda
def test_values_of_another_stream_are_right(store: Path, recorded: Reader) -> None:
    run = stepscope.init(dir=store, system=False, git=False)
    side = torch.cuda.Stream()
    x = torch.zeros((), device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        for step in range(100):
            x += 1
            run.log({"x": x}, step=step)
    run.finish()
    assert [value for _, value in recorded(run.path).points("x")] == [n + 1.0 for n in range(100)]  # type: ignore[arg-type]


@cuda
def test_a_graph_capture_is_left_alone(store: Path, recorded: Reader, capfd: pytest.CaptureFixture[str]) -> None:
    run = stepscope.init(dir=store, system=False, git=False, console=False)
    value = torch.zeros(1000, device="cuda")
    run.log({"x": value.mean()})
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        total = (value + 1).sum()
        run.log({"inside": total, "y": 1.0})
        time.sleep(0.1)
    graph.replay()
    run.log({"after": total})
    run.finish()
    read = recorded(run.path)  # type: ignore[arg-type]
    assert [value for _, value in read.points("after")] == [1000.0]
    assert "log it after replay()" in capfd.readouterr().err
