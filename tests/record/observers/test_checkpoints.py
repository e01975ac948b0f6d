"""What is taken from a model, saved, read and put back."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Iterator

import pytest
import torch
from torch import nn

from stepscope.record.observers import Watcher


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    watcher = Watcher().start()
    yield watcher
    watcher.stop()


def test_knows_the_models_own_memory_from_a_copy(watcher: Watcher) -> None:
    model = nn.Linear(2, 2)
    model.load_state_dict(model.state_dict())
    model.load_state_dict(copy.deepcopy(model.state_dict()))
    assert [(loading.given, loading.own) for loading in watcher.checkpoints.loadings] == [(2, 2), (2, 0)]


def test_pairs_names_that_differ_by_a_prefix(watcher: Watcher) -> None:
    model = nn.Linear(2, 2)
    model.load_state_dict({f"module.{k}": v for k, v in model.state_dict().items()}, strict=False)
    (loading,) = watcher.checkpoints.loadings
    assert loading.matched == 0
    assert loading.shapes_fit == [("module.weight", "weight"), ("module.bias", "bias")]


def test_follows_weights_through_a_file(watcher: Watcher) -> None:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, file)
    file.seek(0)
    read = torch.load(file)
    model.load_state_dict(read["model"])
    optimizer.load_state_dict(read["optimizer"])
    (loading,) = watcher.checkpoints.loadings
    assert loading.file is not None
    assert (loading.file.keys, loading.file.optimizers) == (["model", "optimizer", "epoch"], 1)
    assert watcher.checkpoints.optimizer_loads == [(0, 0)]


def test_sees_whole_modules_being_saved(watcher: Watcher) -> None:
    torch.save({"net": nn.Linear(1, 1)}, io.BytesIO())
    assert watcher.checkpoints.writes[0].modules == ["Linear"]


def test_save_and_load_do_what_they_always_do(watcher: Watcher) -> None:
    file = io.BytesIO()
    torch.save(torch.arange(3), file)
    file.seek(0)
    assert torch.equal(torch.load(file, weights_only=True), torch.arange(3))
    assert pickle.loads(pickle.dumps(torch.save)) is torch.save
    with pytest.raises(RuntimeError, match="Missing key"):
        nn.Linear(1, 1).load_state_dict({})
