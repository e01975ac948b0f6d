"""While a CUDA graph is captured nothing of ours is launched or asked."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from stepscope.events.aside import is_capturing
from stepscope.record import device_reads, pulse
from stepscope.record.device_reads import Arrivals
from stepscope.record.pulse import Pulse


def test_nothing_is_captured_where_there_is_no_device() -> None:
    assert not is_capturing()


def test_numbers_wait_until_the_capture_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    on_their_way = Arrivals()
    on_their_way.send("step", {"loss": torch.tensor(2.0)})
    with monkeypatch.context() as capture:
        capture.setattr(device_reads, "is_capturing", lambda: True)
        assert list(on_their_way.receive(wait=False)) == []
        assert list(on_their_way.receive(wait=True)) == []
    assert list(on_their_way.receive(wait=False)) == [("step", {"loss": 2.0})]


def test_a_captured_step_has_no_loss_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    felt = Pulse().start()
    try:
        for captured in (False, True, False):
            monkeypatch.setattr(pulse, "is_capturing", lambda now=captured: now)
            monkeypatch.setattr(pulse, "_modes", lambda: 1)  # then the way of a loss on a device is gone
            layer(torch.ones(1, 2)).sum().backward()
            optimizer.step()
    finally:
        felt.stop()
    assert [beat.loss is None for beat in felt.beats] == [False, True, False]
