"""What observers have seen is the same after a way through bytes, for the queries that rules make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from stepscope.evidence.codec import decode, encode
from stepscope.evidence.nonfinite import Spot
from stepscope.evidence.precision_loss import Truncation
from stepscope.evidence.registry import records
from stepscope.record.observers import Watcher


def seen(script: Callable[[], Any]) -> Watcher:
    """What a watcher has seen of a few lines."""
    torch.manual_seed(0)
    watcher = Watcher().start()
    kept = script()
    watcher.stop()
    del kept
    return watcher


def again(table: Any) -> Any:
    return decode(encode(table, records()), records())


def test_steps_keep_their_backwards() -> None:
    def script() -> None:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        for _ in range(3):
            model(torch.ones(4, 2)).sum().backward()
            optimizer.step()

    steps = seen(script).steps
    found = again(steps)
    assert [step.lr for step in found.of_optimizer(0)] == [0.5] * 3
    assert found.count_of(0) == found.step_count == found.backward_count == 3
    assert found.steps[1].backwards == [found.backwards[1]]
    assert [one.loss for one in found.backwards] == [one.loss for one in steps.backwards]
    assert [one.stale for one in found.steps] == [one.stale for one in steps.steps] == [False, True, True]


def test_an_alarm_leads_back_to_the_logarithm() -> None:
    def script() -> None:
        weight = nn.Parameter(torch.zeros(3))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        for _ in range(4):
            (weight * 0).log().sum().backward()
            optimizer.step()

    found = again(seen(script).nonfinite)
    assert found.alarm.kind == "loss"
    spots = [origin.spot for origin in found.alarm.origin.ancestors() if isinstance(origin.spot, Spot)]
    assert "log" in [spot.op for spot in spots]
    assert {(spot.made.neg_inf, spot.made.numel) for spot in spots if spot.op == "log"} == {(3, 3)}


def test_a_cut_hangs_on_its_origin() -> None:
    (origin,) = again(seen(lambda: torch.tensor([0.5, 1.5]).long()).precision_loss).cuts
    assert isinstance(origin.spot, Truncation)
    assert (origin.op, origin.dtype, origin.spot.lost) == ("long", "int64", 0.5)


def test_a_decision_finds_the_loss_of_the_same_numbers() -> None:
    def script() -> None:
        model = nn.Linear(3, 4)
        for _ in range(2):
            scores = model(torch.rand(5, 3))
            F.cross_entropy(scores, torch.zeros(5, dtype=torch.long)).backward()
            scores.argmax(0)

    found = again(seen(script).metrics)
    (decision,) = found.decisions
    assert (decision.op, decision.dim) == ("argmax", 0)
    assert found.classes[decision.maker][:3] == (2, 1, 4)


def test_layers_that_read_sequences_are_asked_for_by_name() -> None:
    def script() -> nn.Module:
        layer = nn.LSTM(3, 4, batch_first=True)
        layer(torch.rand(2, 5, 3))
        return layer

    found = again(seen(script).shapes_seen)
    ((layer, visits),) = found.of("RNNBase")
    assert (layer.type, layer.attributes["batch_first"]) == ("LSTM", True)
    assert visits[0].shapes_in[0] == (2, 5, 3)
    assert found.of("MultiheadAttention") == []


def test_the_operation_that_raised_keeps_what_it_read() -> None:
    def script() -> None:
        try:
            torch.ones(2, 3) @ torch.ones(2, 3)
        except RuntimeError:
            pass

    failed = again(seen(script).tensor_history).failed
    assert (failed.op, [origin.shape for origin in failed.origins]) == ("matmul", [(2, 3), (2, 3)])
    assert failed.said.startswith("RuntimeError: ")
