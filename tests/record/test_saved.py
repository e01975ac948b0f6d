"""Bytes kept for backward, and memory over the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from stepscope.record.memory import MemoryObserver
from stepscope.record.op_observer import Observer
from stepscope.record.recorder import Recorder
from stepscope.record.saved import SavedObserver
from stepscope.records.step import StepRecord


def recorded(step: Callable[[], Any], observer: Observer | None = None, model: Any = None) -> StepRecord:
    recorder = Recorder(model, observers=[observer or SavedObserver()])
    with recorder:
        step()
    assert recorder.record is not None
    return recorder.record


def saved(step: Callable[[], Any]) -> dict[str, int]:
    return {op.name: op.cost.saved_bytes for op in recorded(step).ops if op.cost.saved_bytes}


def test_each_storage_counts_once_and_parameters_do_not_count() -> None:
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
    x = torch.randn(8, 16)
    # The first layer keeps its input, relu its result; the second layer keeps that same result again.
    assert saved(lambda: model(x)) == {"linear": 8 * 16 * 4, "relu": 8 * 32 * 4}


def test_a_view_is_the_memory_it_looks_at() -> None:
    x = torch.randn(10, requires_grad=True)
    y = torch.randn(10)
    assert saved(lambda: x[:2] * y[:2]) == {"mul": 40}


def test_what_a_custom_function_keeps() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            ctx.extra = torch.ones(5)
            return x * x

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            return 2 * ctx.saved_tensors[0] * gradient

    x = torch.randn(3, requires_grad=True)
    kept = saved(lambda: Square.apply(-x).exp())
    assert kept == {"mul": 12 + 20, "exp": 12}  # the op inside that made the result


def test_nothing_is_kept_without_gradients() -> None:
    x = torch.randn(4, requires_grad=True)
    with torch.no_grad():
        assert saved(lambda: x.exp()) == {}
    assert saved(lambda: x.detach().exp()) == {}


def test_a_checkpoint_keeps_nothing_inside_and_is_not_run_again_by_us() -> None:
    runs = []

    def inside(x: torch.Tensor) -> torch.Tensor:
        runs.append(1)
        return x.exp().sin()

    x = torch.randn(4, requires_grad=True)
    record = recorded(lambda: checkpoint(inside, x, use_reentrant=False).sum().backward())
    assert len(runs) == 2  # once, and once again for backward
    forward = [op for op in record.ops if op.phase != "backward"]
    assert all(op.cost.saved_bytes == 0 for op in forward if op.name in ("exp", "sin"))
    assert any("hooks" in unseen.what for unseen in record.unseen)


def test_reading_does_not_disturb_the_check_for_in_place_changes() -> None:
    x = torch.randn(4, requires_grad=True)

    def step() -> None:
        y = x.exp()
        y.add_(1)
        with pytest.raises(RuntimeError, match="inplace"):
            y.sum().backward()

    recorded(step)


def test_memory_rises_and_falls_with_the_storages() -> None:
    def step() -> None:
        a = torch.zeros(1000)
        b = a + 1
        del a
        c = b + 1
        del b
        c.add_(1)

    note = recorded(step, MemoryObserver()).notes["memory"]
    assert note["live_bytes"] == [4000, 8000, 8000, 4000]
    assert (note["peak_bytes"], note["peak_op"], note["made_bytes"]) == (8000, 1, 12000)


def test_memory_held_by_the_graph_is_alive_until_backward() -> None:
    model = nn.Linear(10, 10, bias=False)

    def step() -> None:
        loss = model(torch.zeros(5, 10)).exp().sum()
        loss.backward()

    record = recorded(step, MemoryObserver(), model)
    note = record.notes["memory"]
    live = dict(zip([op.name for op in record.ops], note["live_bytes"], strict=False))
    assert live["sum"] == 400 + 200 + 200 + 4  # weight, input, result of exp, loss; that of linear is gone
    assert note["parameter_bytes"] == 400
