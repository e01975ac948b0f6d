"""What models are fed: rows of training and of evaluation, by a loader or by hand, and graphs nobody needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stepscope.record.observers import Watcher


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    watcher = Watcher().start()
    yield watcher
    watcher.stop()


def train(model: nn.Module, x: torch.Tensor) -> None:
    model(x).sum().backward()


def test_counts_evaluated_rows_that_were_trained_on_before(watcher: Watcher) -> None:
    x, model = torch.arange(24.0).reshape(8, 3), nn.Linear(3, 1)
    train(model, x[:6])
    with torch.no_grad():
        model(x[4:])
    (diet,) = watcher.batches_fed.diets
    (evaluated,) = diet.evaluated
    assert (diet.trained, evaluated.rows, evaluated.seen) == (6, 4, 2)


def test_training_that_there_was_no_time_to_look_at_is_counted(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, model = torch.arange(24.0).reshape(8, 3), nn.Linear(3, 1)
    train(model, x[:4])
    monkeypatch.setattr(watcher.batches_fed._allowance, "left", lambda: False)
    train(model, x[4:])
    (diet,) = watcher.batches_fed.diets
    assert (diet.trained, diet.trained_calls, diet.missed) == (4, 2, 1)


def test_rows_evaluated_before_they_are_trained_on_are_no_overlap(watcher: Watcher) -> None:
    x, model = torch.arange(24.0).reshape(8, 3), nn.Linear(3, 1)
    with torch.no_grad():
        model(x)
    train(model, x)
    (evaluated,) = watcher.batches_fed.diets[0].evaluated
    assert not evaluated.seen


def test_each_model_has_its_own_rows(watcher: Watcher) -> None:
    x, first, second = torch.arange(24.0).reshape(8, 3), nn.Linear(3, 1), nn.Linear(3, 1)
    train(first, x)
    with torch.no_grad():
        second(x)
    assert [diet.trained for diet in watcher.batches_fed.diets] == [8, 0]


def test_knows_both_loaders_of_a_step(watcher: Watcher) -> None:
    model = nn.Linear(3, 1)
    one, two = (DataLoader(TensorDataset(torch.randn(8, 3)), batch_size=4) for _ in range(2))
    for (x,), (z,) in zip(one, two, strict=True):
        (model(x).sum() + model(z).sum()).backward()
    facts = watcher.loaders.all
    assert [watcher.batches_fed.trains_on(fact) for fact in facts] == [True, True]


def test_counts_graphs_of_an_evaluation_that_nobody_uses(watcher: Watcher) -> None:
    model = nn.Linear(3, 1)
    train(model, torch.randn(4, 3))
    model.eval()
    for _ in range(3):
        model(torch.randn(4, 3))
    model.train()
    train(model, torch.randn(4, 3))
    assert list(watcher.batches_fed.diets[0].idle.values()) == [3]


def test_finds_the_first_batch_with_a_nan(watcher: Watcher) -> None:
    model, x = nn.Linear(3, 1), torch.zeros(20, 4, 3)
    x[11, 2, 1] = float("nan")
    for batch in x:
        train(model, batch)
    bad = watcher.batches_fed.bad
    assert bad is not None
    assert bad.look is not None
    assert (bad.visit.index, bad.look.nan) == (11, 1)


def test_data_from_numpy_has_an_origin(watcher: Watcher) -> None:
    x = torch.from_numpy(torch.ones(3).numpy())
    origin = watcher.tensor_history.of(x * 2)
    assert [source.op for source in origin.inputs] == ["from_numpy"]
