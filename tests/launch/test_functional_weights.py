"""Which replaced weights under `torch.func` are updates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.func import functional_call, grad, stack_module_state, vmap

from stepscope.launch.functional_weights import FunctionalWeights

Weights = dict[str, torch.Tensor]


class Seen:
    """A model whose calls are told to `FunctionalWeights`."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.net, self.x = torch.nn.Linear(3, 1), torch.randn(8, 3)
        self.followed = FunctionalWeights()
        self.updates = 0

    def hear(self, model: Any, args: Any) -> None:
        self.updates += self.followed.updates_before(model) or 0

    def loss(self, weights: Weights, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = functional_call(self.net, weights, (x,))
        return result.pow(2).mean()

    def weights(self) -> Weights:
        return {name: one.detach().clone() for name, one in self.net.named_parameters()}

    @property
    def total(self) -> int:
        return self.updates + self.followed.updates_at_end()


@pytest.fixture
def seen() -> Iterator[Seen]:
    one = Seen()
    hook = torch.nn.modules.module.register_module_forward_pre_hook(one.hear)
    yield one
    hook.remove()


def moved(weights: Weights, gradients: Weights) -> Weights:
    return {name: weights[name] - 0.1 * gradients[name] for name in weights}


def train(seen: Seen, loss: Callable[..., torch.Tensor], weights: Weights, keep: int = 0) -> int:
    kept = []
    for step in range(6):
        if step < keep:
            kept.append(weights)
        weights = moved(weights, grad(loss)(weights, seen.x))
    return seen.total


def test_each_replacement_is_one(seen: Seen) -> None:
    assert train(seen, seen.loss, seen.weights()) == 6


def test_also_those_before_the_first_whose_old_weights_are_gone(seen: Seen) -> None:
    assert train(seen, seen.loss, seen.weights(), keep=3) == 6


def test_the_weights_that_a_maml_step_adapts_are_no_step(seen: Seen) -> None:
    def adapted(weights: Weights, x: torch.Tensor) -> torch.Tensor:
        return seen.loss(moved(weights, grad(seen.loss)(weights, x)), x)

    assert train(seen, adapted, seen.weights()) == 6


def test_an_ensemble_under_vmap(seen: Seen) -> None:
    weights, _ = stack_module_state([torch.nn.Linear(3, 1) for _ in range(4)])
    weights = {name: one.detach() for name, one in weights.items()}
    for _ in range(5):
        weights = vmap(lambda one: moved(one, grad(seen.loss)(one, seen.x)))(weights)
    assert seen.total == 5


def test_changes_in_place(seen: Seen) -> None:
    weights = seen.weights()
    for _ in range(5):
        for name, gradient in grad(seen.loss)(weights, seen.x).items():
            weights[name].sub_(0.1 * gradient)
    assert seen.total == 5


def test_gradients_of_one_sample_each_change_nothing(seen: Seen) -> None:
    for _ in range(5):
        vmap(grad(seen.loss), (None, 0))({name: one.detach() for name, one in seen.net.named_parameters()}, seen.x)
    assert seen.total == 0


def test_several_models_in_turn_are_no_steps(seen: Seen) -> None:
    for weights in [seen.weights() for _ in range(5)]:
        grad(seen.loss)(weights, seen.x)
    assert seen.total == 0


def test_gradients_of_the_input_are_of_no_weights(seen: Seen) -> None:
    for _ in range(5):
        grad(lambda x: seen.net(x).sum())(torch.randn(8, 3))
    assert seen.total == 0
    assert not seen.followed.has_seen
