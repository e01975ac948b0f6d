"""Tables about data, files and ranks are the same after a way through bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

from stepscope.evidence.codec import decode, encode
from stepscope.evidence.ranks import Called, Delivered, Ended, Ranks
from stepscope.evidence.registry import records
from stepscope.record.observers import Watcher, repeated_samples
from stepscope.record.observers.ranks import Began, Trained, read_ranks


class Rows(Dataset[tuple[torch.Tensor, int]]):
    """Twelve rows of two classes, nine of them of the first."""

    def __init__(self, noise: float = 0.0) -> None:
        self.x, self.noise = torch.arange(36.0).reshape(12, 3), noise

    def __len__(self) -> int:
        return 12

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        return self.x[i] + self.noise * torch.randn(3), int(i % 4 == 3)


def sorted_rows(samples: list[tuple[torch.Tensor, int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Turns the rows round and leaves the labels."""
    return torch.stack([row for row, _ in reversed(samples)]), torch.tensor([label for _, label in samples])


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No sample is too slow to be asked for, however busy the machine is."""
    monkeypatch.setattr(repeated_samples, "_SLOW_S", 60.0)
    monkeypatch.setattr(repeated_samples, "_COUNTING_S", 60.0)


def seen(script: Callable[[], Any]) -> Watcher:
    """What a watcher has seen of a few lines, when rules are asked at the end."""
    torch.manual_seed(0)
    watcher = Watcher().start()
    kept = script()
    watcher.stop()
    watcher.settle()
    watcher.experiment()
    del kept
    return watcher


def again(table: Any) -> Any:
    return decode(encode(table, records()), records())


def train(model: nn.Module, loader: DataLoader[Any], epochs: int = 1) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()


def test_a_loader_leads_to_its_own_code() -> None:
    def script() -> Any:
        loader = DataLoader(Rows(), batch_size=4, collate_fn=sorted_rows)
        train(nn.Linear(3, 2), loader)
        return loader

    (loader,) = again(seen(script).loaders).all
    assert (loader.dataset, loader.batch_size, loader.batches, loader.trains) == ("Rows", 4, 3, 3)
    assert loader.data.methods["__getitem__"].first_line == Rows.__getitem__.__code__.co_firstlineno
    assert (loader.collate.name, loader.worker_init) == ("sorted_rows", None)


def test_experiments_on_datasets_are_kept() -> None:
    def script() -> Any:
        noisy = DataLoader(Rows(noise=1.0), batch_size=4)
        turned = DataLoader(Rows(), batch_size=4, collate_fn=sorted_rows)
        model = nn.Linear(3, 2)
        train(model, turned)
        with torch.no_grad():
            for x, _ in noisy:
                model(x)
        return noisy, turned

    deliveries = again(seen(script).loader_output)
    turned, noisy = deliveries.all
    assert (turned.misplaced, turned.varying) == (True, None)
    assert (noisy.misplaced, noisy.varying) == (False, 8)
    assert deliveries.of(noisy.loader) is noisy


def test_the_labels_of_a_weighed_dataset_are_counted() -> None:
    def script() -> Any:
        sampler = WeightedRandomSampler([1.0] * 12, 48)
        loader = DataLoader(Rows(), batch_size=8, sampler=sampler)
        train(nn.Linear(3, 2), loader)
        return loader

    (delivery,) = again(seen(script).loader_output).all
    assert delivery.own_labels == {0: 9, 1: 3}


def test_rows_of_training_and_evaluation_are_counted() -> None:
    def script() -> Any:
        x, model = torch.arange(36.0).reshape(12, 3), nn.Linear(3, 1)
        model(x[:8]).sum().backward()
        model.eval()
        with torch.no_grad():
            model(x[6:])

    batches = again(seen(script).batches_fed)
    (diet,) = batches.diets
    (evaluated,) = diet.evaluated
    assert (diet.trained, evaluated.rows, evaluated.seen, evaluated.left_out) == (8, 6, 2, 6)
    assert (batches.first[0].rows, batches.first[0].model) == (8, diet)


def test_a_target_keeps_labels_that_clash() -> None:
    def script() -> None:
        x, model = torch.arange(12.0).reshape(4, 3), nn.Linear(3, 2)
        F.cross_entropy(model(x), torch.tensor([0, 1, 0, 1])).backward()
        for labels in ([0, 1, 0, 1], [0, 0, 0, 1]):
            F.cross_entropy(model(x), torch.tensor(labels)).backward()

    targets = again(seen(script).targets).all
    assert [(one.samples, one.clashes, one.clash) for one in targets] == [(4, 0, None), (4, 1, (1, 0))]


def test_files_and_schedules_are_kept(tmp_path: Path) -> None:
    def script() -> Any:
        model = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
        optimizer.step()
        scheduler.step()
        torch.save(model.state_dict(), tmp_path / "best.pt")
        model.load_state_dict(torch.load(tmp_path / "best.pt"))
        return scheduler

    watcher = seen(script)
    (scheduler,) = again(watcher.schedulers).of_optimizer(0)
    assert (scheduler.type, scheduler.base_lr, [step.lr for step in scheduler.steps]) == ("LambdaLR", 0.1, [0.1])
    assert [place.name for place in scheduler.functions] == ["<lambda>"]
    (loading,) = again(watcher.checkpoints).loadings
    assert (loading.type, loading.given, loading.file.path) == ("Linear", 2, str(tmp_path / "best.pt"))


def test_ranks_are_kept() -> None:
    facts: list[Any] = [
        Began(0, 2),
        Delivered(1, 0, "ab", 8, "RandomSampler", False, False, ("train.py", 3)),
        Trained(1),
        Called(0, "all_reduce", [4], ("train.py", 9)),
        Ended(5, 5, {1: 5}, ("train.py", 4), None),
    ]
    (rank,) = again(Ranks(read_ranks([facts]))).all
    assert (rank.rank, rank.size, rank.trained) == (0, 2, {1})
    assert (rank.delivered[1], [rank.waits_in], rank.ended) == ([facts[1]], [facts[3]], facts[4])
