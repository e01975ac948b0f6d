"""Time per op."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch
from torch import nn

from stepscope.record import timing
from stepscope.record.recorder import Recorder
from stepscope.record.timing import TimingObserver


def test_every_op_and_module_has_a_time_and_they_fit_in_the_step() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    recorder = Recorder(model, observers=[TimingObserver()])
    with recorder:
        model(torch.randn(4, 8)).sum().backward()
    record = recorder.record
    assert record is not None
    times = [op.cost.host_us for op in record.ops]
    assert all(spent is not None and spent > 0 for spent in times)
    assert sum(spent or 0 for spent in times) < record.wall_us
    root, linear, relu = (call.host_us or 0 for call in record.calls)
    assert root > linear + relu
    assert all(op.cost.device_us is None for op in record.ops)


def test_the_time_of_backward_is_without_that_of_its_nodes() -> None:
    class Slow(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            time.sleep(0.3)
            return gradient

    x = torch.randn(3, requires_grad=True)
    recorder = Recorder(observers=[TimingObserver()])
    with recorder:
        Slow.apply(x).sum().backward()
    assert recorder.record is not None
    spent = {op.name: op.cost.host_us or 0 for op in recorder.record.ops}
    assert spent["SlowBackward"] > 299_000
    assert spent["backward"] < 250_000


def test_an_op_that_raises_leaves_the_clock_of_the_others_right() -> None:
    recorder = Recorder(observers=[TimingObserver()])
    with recorder:
        with pytest.raises(RuntimeError):
            torch.mm(torch.ones(2, 3), torch.ones(2, 3))
        torch.ones(2)
    assert recorder.record is not None
    assert recorder.record.ops[-1].cost.host_us is not None


class FakeEvent:
    """A device that needs a millisecond between any two events."""

    count = 0

    def __init__(self, enable_timing: bool = False) -> None:
        self.device = "cuda:0"

    def record(self, stream: Any) -> None:
        FakeEvent.count += 1
        self.at = FakeEvent.count

    def elapsed_time(self, end: FakeEvent) -> float:
        return float(end.at - self.at)


def test_device_time_by_events_read_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    observer = TimingObserver()
    observer._cuda = True
    waited: list[Any] = []
    monkeypatch.setattr(timing.torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(timing.torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(timing.torch.cuda, "current_stream", lambda device=None: None)
    monkeypatch.setattr(timing.torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(timing.torch.cuda, "synchronize", waited.append)
    monkeypatch.setattr(observer, "_event", lambda tensors, device=None: observer._event_now())
    recorder = Recorder(observers=[observer])
    with recorder:
        torch.ones(3).exp()
        assert waited == []
    assert waited == ["cuda:0"]
    assert recorder.record is not None
    assert [op.cost.device_us for op in recorder.record.ops] == [1000.0, 1000.0]


def test_no_event_while_a_graph_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing.torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(timing.torch.cuda, "is_current_stream_capturing", lambda: True)
    assert TimingObserver()._event_now() is None
