"""A step is: gradients were made, then weights changed, by however many optimizers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch

from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.loop import Loop
from stepscope.record.observers import Watcher

Losses = list[tuple[str, int, float]]
Trained = Callable[[Callable[[], None]], tuple[int, int, Losses]]


@pytest.fixture
def trained() -> Trained:
    """Runs a training, and gives the steps that the loop has counted, those of the watcher, and the losses written."""
    losses: Losses = []

    def log(values: Mapping[str, float], step: int) -> None:
        found = [(name, step, round(value, 4)) for name, value in values.items() if "loss" in name]
        losses.extend(found)

    loop = Loop()
    logbook = Logbook(loop, log)

    def run(training: Callable[[], None]) -> tuple[int, int, Losses]:
        loop.install()
        logbook.start()
        watcher = Watcher().start()
        try:
            training()
        finally:
            watcher.stop()
            logbook.stop()
            loop.remove()
        return loop.steps, watcher.step, losses

    return run


def pair(count: int = 2, **options: Any) -> tuple[list[Any], list[Any]]:
    layers = [torch.nn.Linear(1, 1, bias=False) for _ in range(count)]
    for layer in layers:
        torch.nn.init.ones_(layer.weight)
    return layers, [torch.optim.SGD(layer.parameters(), lr=0.0, **options) for layer in layers]


def test_optimizers_that_step_after_one_backward_make_one_step(trained: Trained) -> None:
    def training() -> None:
        (encoder, decoder), optimizers = pair()
        for number in range(3):
            for one in optimizers:
                one.zero_grad()
            decoder(encoder(torch.full((1, 1), number + 1.0))).sum().backward()
            for one in optimizers:
                one.step()

    losses = [("train/loss", 0, 1.0), ("train/loss", 1, 2.0), ("train/loss", 2, 3.0)]
    assert trained(training) == (3, 3, losses)


def test_two_backwards_before_both_optimizers_step_are_two_losses_of_one_step(trained: Trained) -> None:
    def training() -> None:
        (actor, critic), optimizers = pair()
        for _ in range(2):
            actor_loss, critic_loss = actor(torch.ones(1, 1)).sum(), 2 * critic(torch.ones(1, 1)).sum()
            actor_loss.backward()
            critic_loss.backward()
            for one in optimizers:
                one.step()

    losses = [
        ("train/actor_loss", 0, 1.0),
        ("train/critic_loss", 0, 2.0),
        ("train/actor_loss", 1, 1.0),
        ("train/critic_loss", 1, 2.0),
    ]
    assert trained(training) == (2, 2, losses)


def test_optimizers_with_a_backward_each_take_turns(trained: Trained) -> None:
    def training() -> None:
        layers, optimizers = pair()
        for _ in range(2):
            for layer, one in zip(layers, optimizers, strict=True):
                layer(torch.ones(1, 1)).sum().backward()
                one.step()

    names = ["train/loss", "train2/loss"] * 2
    assert trained(training) == (4, 4, [(name, step, 1.0) for step, name in enumerate(names)])


def test_gradients_asked_of_autograd_are_gradients(trained: Trained) -> None:
    def training() -> None:
        layers, optimizers = pair()
        for _ in range(2):
            for layer, one in zip(layers, optimizers, strict=True):
                (layer.weight.grad,) = torch.autograd.grad(layer(torch.ones(1, 1)).sum(), [layer.weight])
                one.step()

    assert trained(training)[:2] == (4, 4)


def test_accumulated_batches_are_one_step(trained: Trained) -> None:
    def training() -> None:
        (encoder, decoder), optimizers = pair()
        for number in range(6):
            decoder(encoder(torch.ones(1, 1))).sum().backward()
            if number % 3 == 2:
                for one in optimizers:
                    one.step()
                    one.zero_grad()

    assert trained(training)[:2] == (2, 2)


def test_an_optimizer_that_steps_less_often_joins_the_step_it_shares(trained: Trained) -> None:
    def training() -> None:
        (encoder, decoder), (often, seldom) = pair()
        for number in range(4):
            decoder(encoder(torch.ones(1, 1))).sum().backward()
            often.step()
            if number % 2:
                seldom.step()

    assert trained(training)[:2] == (4, 4)


def test_closures_that_make_their_own_gradients_are_steps_of_their_own(trained: Trained) -> None:
    def training() -> None:
        layers, optimizers = pair()

        def closure_of(layer: Any) -> Callable[[], Any]:
            def closure() -> Any:
                loss = layer(torch.ones(1, 1)).sum()
                loss.backward()
                return loss

            return closure

        for _ in range(2):
            for layer, one in zip(layers, optimizers, strict=True):
                one.step(closure_of(layer))

    names = ["train/loss", "train2/loss"] * 2
    assert trained(training) == (4, 4, [(name, step, 1.0) for step, name in enumerate(names)])


def test_an_optimizer_inside_another_makes_no_second_step(trained: Trained) -> None:
    class Wrapper(torch.optim.SGD):
        def __init__(self, parameters: Any) -> None:
            super().__init__(parameters, lr=0.0)
            self.inner = torch.optim.SGD(self.param_groups[0]["params"], lr=0.0)

        def step(self, closure: Any = None) -> None:
            self.inner.step()

    def training() -> None:
        (layer, _), _ = pair()
        optimizer = Wrapper(layer.parameters())
        for _ in range(3):
            layer(torch.ones(1, 1)).sum().backward()
            optimizer.step()

    assert trained(training)[:2] == (3, 3)


def test_gradients_that_no_backward_made_are_of_the_next_step(trained: Trained) -> None:
    """Evolution strategies write `p.grad` themselves."""

    def training() -> None:
        layers, optimizers = pair()
        for _ in range(3):
            for layer, one in zip(layers, optimizers, strict=True):
                layer.weight.grad = torch.ones(1, 1)
                one.step()

    assert trained(training)[:2] == (3, 3)
