"""What the logbook writes of a loop, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import torch

from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.loop import Loop

Written = list[tuple[dict[str, float], int]]


@pytest.fixture
def written() -> Iterator[Written]:
    found: Written = []

    def log(values: Mapping[str, float], step: int) -> None:
        found.append((dict(values), step))

    loop = Loop()
    logbook = Logbook(loop, log)
    loop.install()
    logbook.start()
    yield found
    logbook.stop()
    loop.remove()


def step(layer: torch.nn.Linear, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    layer(torch.ones(1, 2)).sum().backward()
    optimizer.step()


def test_the_losses_of_two_optimizers_that_take_turns_are_kept_apart(written: Written) -> None:
    layers = [torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)]
    optimizers = [torch.optim.SGD(layer.parameters(), lr=0.1) for layer in layers]
    for _ in range(2):
        for layer, optimizer in zip(layers, optimizers, strict=True):
            step(layer, optimizer)
    losses = [(name, number) for values, number in written for name in values if name.endswith("/loss")]
    assert losses == [("train/loss", 0), ("train2/loss", 1), ("train/loss", 2), ("train2/loss", 3)]


def test_the_next_fold_continues_the_series_of_the_one_before(written: Written) -> None:
    for _ in range(2):
        layer = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(2):
            step(layer, optimizer)
    losses = [(name, number) for values, number in written for name in values if name.endswith("/loss")]
    assert losses == [("train/loss", 0), ("train/loss", 1), ("train/loss", 2), ("train/loss", 3)]


def test_an_optimizer_made_where_another_was_freed_is_not_that_one(written: Written) -> None:
    """Python mostly gives the second optimizer the address of the first."""

    def train(layer: torch.nn.Linear) -> None:
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        step(layer, optimizer)

    def distill(layer: torch.nn.Linear) -> None:
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        step(layer, optimizer)

    teacher = torch.nn.Linear(2, 1)
    student = torch.nn.Linear(2, 1)
    train(teacher)
    distill(student)
    distill(student)
    names = [name for values, _ in written for name in values if name.endswith("/loss")]
    assert names == ["train/loss", "train2/loss", "train2/loss"]


def test_the_loss_of_a_step_is_the_first_that_its_closure_gave(written: Written) -> None:
    weight: Any = torch.nn.Parameter(torch.tensor([4.0]))
    optimizer: Any = torch.optim.LBFGS([weight], lr=0.1, max_iter=3)
    given: list[float] = []

    def closure() -> Any:
        optimizer.zero_grad()
        loss = weight.square().sum()
        loss.backward()
        given.append(loss.item())
        return loss

    optimizer.step(closure)
    assert len(given) == 3
    assert [values["train/loss"] for values, _ in written if "train/loss" in values] == given[:1]


def test_batches_before_the_step_count_with_the_one_in_its_closure(written: Written) -> None:
    weight: Any = torch.nn.Parameter(torch.tensor([4.0]))
    optimizer: Any = torch.optim.SGD([weight], lr=0.1)

    def closure(part: float = 3.0) -> Any:
        loss = part * weight.sum()
        loss.backward()
        return loss

    for _ in range(2):
        closure(1.0)
        closure(2.0)
        before = weight.item()
        optimizer.step(closure)
        losses = [values["train/loss"] for values, _ in written if "train/loss" in values]
        assert losses[-1] == pytest.approx(6 * before)
        optimizer.zero_grad()


def test_the_update_ratio_is_taken_now_and_then(written: Written) -> None:
    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(51):
        step(layer, optimizer)
    assert [number for values, number in written if "train/update_ratio" in values] == [0, 25, 50]


def test_a_step_with_a_closure_is_logged_once_it_is_made(written: Written) -> None:
    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = layer(torch.ones(1, 2)).sum()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)
    assert [number for values, number in written if "train/loss" in values] == [0, 1, 2]
