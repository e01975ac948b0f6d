from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn


def net() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 2))


def train(steps: int, around: Callable[[nn.Module], None], log: Callable[[Any], None]) -> list[Any]:
    torch.manual_seed(0)
    model = net()
    around(model)
    optimizer = torch.optim.Adam(model.parameters())
    losses = []
    for _ in range(steps):
        loss = model(torch.randn(16, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log(loss)
        losses.append(loss.item())
    return [*losses, *[p.detach().clone() for p in model.parameters()], torch.rand(3)]


def test_training_is_the_same_bit_for_bit(wandb: ModuleType) -> None:
    alone = train(12, lambda model: None, lambda loss: None)
    wandb.init(project="p")
    watched = train(12, lambda model: wandb.watch(model, log="all", log_freq=1), lambda loss: wandb.log({"loss": loss}))
    assert all(torch.equal(torch.as_tensor(a), torch.as_tensor(b)) for a, b in zip(alone, watched, strict=True))


def test_every_so_many_batches(wandb: ModuleType, last: Callable[[], Any]) -> None:
    wandb.init(project="p")
    train(10, lambda model: wandb.watch(model, log="all", log_freq=3), lambda loss: wandb.log({"loss": loss}))
    wandb.finish()
    steps: dict[str, list[int]] = {each.key: [] for each in last().media()}
    for each in last().media():
        steps[each.key].append(each.step)
    names = [
        f"{kind}/{at}.{part}" for kind in ("gradients", "parameters") for at in (0, 3) for part in ("weight", "bias")
    ]
    assert steps == {name: [2, 5, 8] for name in names}


def test_hooks_go_with_unwatch_and_with_the_run(wandb: ModuleType) -> None:
    model = net()
    wandb.init(project="p")
    wandb.watch(model, log="all")
    assert len(model._forward_hooks) == 1
    wandb.unwatch(model)
    assert len(model._forward_hooks) == 0
    wandb.watch(model, log="all")
    wandb.finish()
    assert len(model._forward_hooks) == 0
    assert all(not parameter._backward_hooks for parameter in model.parameters())


def test_several_models_have_names_of_their_own(wandb: ModuleType, last: Callable[[], Any]) -> None:
    first, second = nn.Linear(2, 1), nn.Linear(2, 1)
    wandb.init(project="p")
    wandb.watch((first, second), log_freq=1)
    (first(torch.ones(1, 2)) + second(torch.ones(1, 2))).sum().backward()
    wandb.finish()
    found = Counter(each.key for each in last().media())
    assert sorted(found) == ["gradients/bias", "gradients/graph_1bias", "gradients/graph_1weight", "gradients/weight"]


def test_what_cannot_be_watched_is_said(wandb: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    wandb.init(project="p")
    wandb.watch("model")
    model = net()
    wandb.watch(model)
    wandb.watch(model)
    wandb.watch(net(), log="everything", log_graph=True)
    said = capsys.readouterr().err
    assert "was given a str" in said
    assert "called twice for one model" in said
    assert "log_graph=True) is accepted and does nothing" in said
