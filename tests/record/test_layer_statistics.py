"""Histograms of activations and gradients, layer by layer."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim import optimizer as torch_optimizer

import stepscope
from stepscope.errors import UsageError
from stepscope.record.layer_statistics import Counts, count, watch_layers
from stepscope.record.statistics import stats_of


def make() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Sequential(nn.Linear(8, 2)))
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def train(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(5, 4)).square().sum().backward()
        optimizer.step()


def test_one_step_in_every_so_many_is_logged() -> None:
    logged: list[dict[str, Any]] = []
    model, optimizer = make()
    with watch_layers(model, every=3, log=logged.append):
        train(model, optimizer, 7)
    assert len(logged) == 3
    assert [key for key, value in logged[0].items() if isinstance(value, Counts)] == [
        "activations/0", "activations/1", "activations/2.0", "gradients/0", "gradients/2.0",
    ]  # fmt: skip
    relu = logged[0]["activations/1"]
    assert relu.counts.sum() == 40
    assert relu.edges[0] == 0.0
    assert 0 < logged[0]["activations/1/zeros"] < 1
    assert logged[0]["gradients/0/norm"] > 0


def test_counts_are_those_of_numpy() -> None:
    values = torch.randn(1000)
    stats = stats_of(values)
    assert stats is not None
    made = Counts(count(values, stats, 16), stats)
    wanted, edges = np.histogram(values.numpy(), 16)
    assert np.abs(made.counts - wanted).max() <= 1  # a value on an edge may fall on either side in float32
    assert np.allclose(made.edges, edges)


def test_what_is_not_finite_is_in_no_bin_but_told() -> None:
    values = torch.tensor([1.0, float("nan"), float("inf"), 2.0])
    stats = stats_of(values)
    assert stats is not None
    made = Counts(count(values, stats, 4), stats)
    assert made.counts.tolist() == [1, 0, 0, 1]
    meta = made.encode("k", 0, 0.0)[0][0].meta
    assert (meta["nan"], meta["pos_inf"], meta["total"]) == (1, 1, 4)
    same = stats_of(torch.ones(3))
    assert same is not None
    assert Counts(count(torch.ones(3), same, 4), same).counts.sum() == 3


def test_it_lands_in_the_current_run(store: Path) -> None:
    model, optimizer = make()
    with stepscope.init(project="p", dir=store) as run, watch_layers(model, every=2):
        train(model, optimizer, 2)
        where = run.path
    assert where is not None
    found = stepscope.run(where)
    assert found.series("gradients/0/norm").values.size == 1
    assert "activations/0" in {media.key for media in found.media()}


def test_it_stands_at_the_step_of_what_the_loop_logs(store: Path) -> None:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with stepscope.init(project="p", dir=store) as run, watch_layers(model, every=2):
        for _ in range(5):
            loss = model(torch.ones(1, 2)).sum()
            loss.backward()
            optimizer.step()
            run.log({"loss": loss})
    (found,) = stepscope.runs(store)
    assert list(found.series("gradients/Linear/norm").steps) == [0, 2, 4]
    assert list(found.series("loss").steps) == [0, 1, 2, 3, 4]


def test_training_is_bitwise_the_same_and_nothing_stays() -> None:
    def run(watched: bool) -> list[torch.Tensor]:
        model, optimizer = make()
        with watch_layers(model, every=1, log=lambda values: None) if watched else contextlib.nullcontext():
            train(model, optimizer, 3)
        assert all(not module._forward_hooks for module in model.modules())
        return [*model.state_dict().values(), torch.get_rng_state()]

    before = dict(torch_optimizer._global_optimizer_pre_hooks)
    assert all(torch.equal(a, b) for a, b in zip(run(True), run(False), strict=True))
    assert dict(torch_optimizer._global_optimizer_pre_hooks) == before


def test_evaluation_and_other_optimizers_do_not_count() -> None:
    logged: list[dict[str, Any]] = []
    model, optimizer = make()
    other = nn.Linear(2, 2)
    with watch_layers(model, every=1, log=logged.append):
        other(torch.ones(1, 2)).sum().backward()
        torch.optim.SGD(other.parameters(), lr=0.1).step()
        model.eval()
        model(torch.randn(2, 4))
        model.train()
        assert logged == []
        train(model, optimizer, 1)
    assert len(logged) == 1


def test_mistakes_are_told() -> None:
    with pytest.raises(UsageError, match=r"torch\.nn\.Module"):
        watch_layers("model")
    with pytest.raises(UsageError, match="every=0"):
        watch_layers(nn.Linear(1, 1), every=0)
