"""What losses compare with: labels in order, a target among the inputs, draws that do not belong together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from stepscope.record.observers import Watcher


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    watcher = Watcher().start()
    yield watcher
    watcher.stop()


def test_keeps_the_labels_of_each_batch_in_order(watcher: Watcher) -> None:
    model = nn.Linear(2, 3)
    for labels in ([0, 1], [2, 2]):
        F.cross_entropy(model(torch.randn(2, 2)), torch.tensor(labels)).backward()
    (target,) = watcher.targets.all
    assert target.labels == [[0, 1], [2, 2]]


def test_a_target_made_for_the_occasion_has_no_labels(watcher: Watcher) -> None:
    model = nn.Linear(2, 1)
    out = model(torch.randn(4, 2))
    F.binary_cross_entropy_with_logits(out, torch.ones(4, 1)).backward()
    assert watcher.targets.all[0].labels == []


def test_names_the_column_that_is_the_target(watcher: Watcher) -> None:
    model, x = nn.Linear(4, 1), torch.randn(3, 16, 4)
    for batch in x:
        F.mse_loss(model(batch)[:, 0], batch[:, 2].clone()).backward()
    assert watcher.targets.all[0].leaking == {2: "same"}


def test_names_the_column_that_is_the_target_scaled(watcher: Watcher) -> None:
    model, x = nn.Linear(4, 1), torch.randn(3, 16, 4)
    for batch in x:
        F.mse_loss(model(batch)[:, 0], 3 * batch[:, 1] + 2).backward()
    assert watcher.targets.all[0].leaking == {1: "scaled"}


def test_tells_two_draws_apart(watcher: Watcher) -> None:
    model, x, y = nn.Linear(4, 1), torch.randn(20, 4), torch.randn(20)
    rows = torch.randperm(20)[:8]
    F.mse_loss(model(x[rows])[:, 0], y[rows]).backward()
    other = torch.randperm(20)[:8]
    F.mse_loss(model(x[rows])[:, 0], y[other]).backward()
    assert [len(target.apart) for target in watcher.targets.all] == [0, 1]


def test_a_model_without_modules_has_labels_too(watcher: Watcher) -> None:
    weight = torch.zeros(2, 3, requires_grad=True)
    x, y = torch.randn(6, 2), torch.tensor([0, 0, 1, 1, 2, 2])
    F.cross_entropy(x[:4] @ weight, y[:4]).backward()
    (target,) = watcher.targets.all
    assert target.labels == [[0, 0, 1, 1]]
    assert target.data is not None
    assert target.data.op == "getitem"
