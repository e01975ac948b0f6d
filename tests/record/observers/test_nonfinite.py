"""An alarm is raised by damage, and only by damage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import nn

from stepscope.record.observers import Watcher


@contextmanager
def watched() -> Iterator[Watcher]:
    watcher = Watcher().start()
    try:
        yield watcher
    finally:
        watcher.stop()


def train(loss_of: Callable[[nn.Linear], torch.Tensor], steps: int = 3) -> Watcher:
    torch.manual_seed(0)
    with watched() as watcher:
        model = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(steps):
            optimizer.zero_grad()
            loss_of(model).backward()
            optimizer.step()
    return watcher


def test_a_bad_loss_that_spoils_parameters_is_an_alarm() -> None:
    alarm = train(lambda model: torch.log(model(torch.ones(4, 3)) * 0).sum()).nonfinite.alarm
    assert alarm is not None
    assert (alarm.kind, alarm.step) == ("loss", 0)


def test_bad_gradients_of_a_finite_loss_are_an_alarm_that_names_the_parameters() -> None:
    alarm = train(lambda model: torch.sqrt((model(torch.ones(4, 3)) * 0) ** 2).sum()).nonfinite.alarm
    assert alarm is not None
    assert (alarm.kind, alarm.value, sorted(alarm.parameters)) == ("gradient", 0.0, ["bias", "weight"])


def test_a_mask_is_no_alarm() -> None:
    def loss(model: nn.Linear) -> torch.Tensor:
        masked = model(torch.ones(4, 3)).masked_fill(torch.tensor([True, False]), float("-inf"))
        return torch.softmax(masked, 1)[:, 1].sum()

    watcher = train(loss)
    assert watcher.nonfinite.alarm is None
    assert [spot.meant for spot in watcher.nonfinite.spots] == [True] * 3


def test_a_step_that_is_skipped_is_no_alarm() -> None:
    with watched() as watcher:
        model = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for number in range(4):
            optimizer.zero_grad()
            loss = model(torch.ones(4, 3)).sum() * (float("nan") if number == 1 else 1.0)
            loss.backward()
            if torch.isfinite(loss):
                optimizer.step()
    assert watcher.nonfinite.alarm is None


def test_without_an_optimizer_three_bad_losses_in_a_row_are_an_alarm() -> None:
    weight = torch.zeros(2, requires_grad=True)
    with watched() as watcher:
        for _ in range(3):
            (1 / weight).sum().backward()
    assert watcher.nonfinite.alarm is not None


def test_remembers_what_an_op_read_and_where() -> None:
    watcher = train(lambda model: torch.log(torch.relu(model(torch.ones(4, 3)) - 100)).sum())
    spot = watcher.nonfinite.spots[0]
    assert (spot.op, spot.kind) == ("log", "value")
    assert spot.reads[0] is not None
    assert (spot.reads[0].min, spot.reads[0].max) == (0.0, 0.0)
    assert spot.place is not None
    assert "torch.log" in spot.place.site.text


def test_the_training_is_the_same_to_the_bit() -> None:
    def run() -> list[float]:
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        optimizer = torch.optim.Adam(model.parameters())
        losses = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = torch.sqrt(model(torch.rand(4, 3)).square().sum(1)).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    plain = run()
    with watched():
        seen = run()
    assert seen == plain
