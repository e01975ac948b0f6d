"""Cost and values on a real accelerator: nothing waits, nothing breaks a captured graph."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from stepscope.record.op_observers import observers_for
from stepscope.record.pulse import Pulse
from stepscope.record.recorder import Recorder
from stepscope.record.statistics import Pending, measure, resolve, stats_of
from stepscope.record.trace_values import trace_values

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@contextlib.contextmanager
def no_waiting() -> Iterator[None]:
    """Whatever makes the host wait for the device raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the mode is a prototype; as an error it would leave the mode on
            torch.cuda.set_sync_debug_mode("error")
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


def make() -> tuple[nn.Module, torch.optim.Optimizer, torch.Tensor]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 8)).cuda()
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True), torch.randn(32, 64, device="cuda")


def step(model: nn.Module, optimizer: torch.optim.Optimizer, x: torch.Tensor) -> torch.Tensor:
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()


def test_statistics_wait_for_nothing_and_agree_with_the_cpu() -> None:
    x = torch.tensor([1.0, float("nan"), float("inf"), -float("inf"), 0.0, 3.0])
    there = x.cuda()
    measure(there)
    torch.cuda.synchronize()
    with no_waiting():
        pending = measure(there)
    assert isinstance(pending, Pending)
    found, wanted = resolve([pending])[0], stats_of(x)
    assert found is not None
    assert wanted is not None
    assert (found.nan, found.pos_inf, found.neg_inf, found.zeros) == (1, 1, 1, 1)
    assert found.mean == pytest.approx(wanted.mean)
    assert found.std == pytest.approx(wanted.std)


@pytest.mark.parametrize("stats", [False, True])
def test_recording_with_cost_and_statistics_waits_only_at_the_end(stats: bool) -> None:
    model, optimizer, x = make()
    step(model, optimizer, x)
    recorder = Recorder(model, observers=observers_for(cost=True, stats=stats))
    recorder.start()
    try:
        with no_waiting():
            step(model, optimizer, x)
    finally:
        recorder.stop()
    assert recorder.record is not None
    forward = [op for op in recorder.record.ops if op.name in ("linear", "gelu", "AddmmBackward0")]
    assert all(op.cost.device_us is not None and op.cost.device_us > 0 for op in forward)
    assert recorder.record.notes["memory"]["cuda"]["cuda:0"]["peak_bytes"] > 0
    if stats:
        assert all(op.output_stats and op.output_stats[0] and op.output_stats[0].norm for op in forward)


def test_the_pulse_waits_for_nothing_and_comes_late() -> None:
    model, optimizer, x = make()
    step(model, optimizer, x)
    losses = []
    pulse = Pulse()
    pulse.start()
    step(model, optimizer, x)
    with no_waiting():
        losses = [step(model, optimizer, x) for _ in range(5)]
    pulse.stop()
    assert [beat.loss for beat in pulse.beats][1:] == pytest.approx([float(loss) for loss in losses])
    assert all(beat.grad_norm is not None and beat.grad_norm > 0 for beat in pulse.beats)


def test_values_are_traced_without_waiting_and_the_line_is_named() -> None:
    x = torch.tensor([0.0, 1.0], device="cuda", requires_grad=True)
    with trace_values() as tracer:
        y = x * 2
        loss = torch.log(y).sum()
        loss.backward()
    report = tracer.check()
    assert report.first is not None
    assert (report.first.op.name, report.first.reaches) == ("log", "the loss")
    assert report.first.stats is not None
    assert not report.first.stats.counted
    assert "at least" in str(report)


def test_attention_counts_as_on_a_cpu() -> None:
    from stepscope.record.flops import FlopsObserver

    q = torch.randn(2, 4, 64, 32, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    recorder = Recorder(observers=[FlopsObserver()])
    with recorder:
        F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
    assert recorder.record is not None
    forward = 2 * (2 * 4 * 64 * 64 * 64)
    assert recorder.record.ops[0].cost.flops == forward
    assert sum(op.cost.flops or 0 for op in recorder.record.ops if op.forward == 0 and op.cost.macs) == 2 * forward


def test_a_captured_graph_is_not_broken_and_replays_right() -> None:
    model, _, x = make()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side), torch.no_grad():
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    recorder = Recorder(model, observers=observers_for(cost=True, stats=True))
    with recorder, torch.no_grad(), torch.cuda.graph(graph):
        result = model(x)
    assert recorder.record is not None
    assert any(op.name == "linear" for op in recorder.record.ops)
    x.normal_()
    graph.replay()
    with torch.no_grad():
        assert torch.allclose(result, model(x))


def test_training_is_bitwise_the_same() -> None:
    def train(watched: bool) -> list[Any]:
        model, optimizer, x = make()
        losses = []
        with Pulse() if watched else contextlib.nullcontext():
            for _ in range(3):
                observers = observers_for(cost=True, stats=True)
                with Recorder(model, observers=observers) if watched else contextlib.nullcontext():
                    losses.append(step(model, optimizer, x))
        return [*losses, *model.state_dict().values(), torch.cuda.get_rng_state()]

    assert all(torch.equal(a, b) for a, b in zip(train(True), train(False), strict=True))
