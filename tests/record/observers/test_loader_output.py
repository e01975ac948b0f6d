"""What loaders hand out: labels, first rows by epoch, and a dataset that writes to itself."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

from stepscope.record.observers import Watcher
from stepscope.record.observers.dataset_arrays import bytes_of


class Rows(Dataset[tuple[torch.Tensor, int]]):
    def __init__(self, in_place: bool) -> None:
        self.x, self.in_place = torch.arange(24.0).reshape(8, 3) + 1, in_place

    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        row = self.x[i]
        if self.in_place:
            row /= 2
        return row, i % 2


def epochs(data: Dataset[tuple[torch.Tensor, int]], count: int) -> Watcher:
    watcher = Watcher().start()
    loader = DataLoader(data, batch_size=4)
    for _ in range(count):
        for _batch in loader:
            pass
    watcher.stop()
    return watcher


def test_knows_rows_that_change_in_every_epoch() -> None:
    (delivery,) = epochs(Rows(in_place=True), 3).loader_output.all
    again = [key for key, when in delivery.changed.items() if len(when) >= 2]
    assert ("x", 5) in again


def test_a_dataset_that_only_reads_has_no_changes() -> None:
    (delivery,) = epochs(Rows(in_place=False), 3).loader_output.all
    assert delivery.changed == {}


def test_keeps_labels_of_the_first_epoch_and_first_rows_of_each() -> None:
    (delivery,) = epochs(Rows(in_place=False), 2).loader_output.all
    assert delivery.labels == [[0, 1, 0, 1], [0, 1, 0, 1]]
    assert len(delivery.heads) == 2
    assert delivery.heads[0] == delivery.heads[1]


def test_a_large_dataset_is_let_go() -> None:
    watcher = Watcher().start()
    data = TensorDataset(torch.zeros(20, 2**20))
    gone = weakref.ref(data)
    next(iter(DataLoader(data, batch_size=1)))
    del data
    gc.collect()
    watcher.stop()
    assert gone() is None


@pytest.mark.parametrize(
    ("held", "least", "most"),
    [
        (torch.zeros(10), 40, 40),
        ([(torch.zeros(1).expand(2**18), 1)] * 100, 100 * 2**20, 101 * 2**20),
        ({"a": [torch.zeros(5) for _ in range(4)], "b": "text"}, 84, 400),
        ([], 0, 0),
    ],
)
def test_the_size_of_samples_is_judged_by_a_few(held: object, least: int, most: int) -> None:
    assert least <= bytes_of(held) <= most


def test_the_size_of_what_holds_itself_has_an_end() -> None:
    knot: list[object] = [torch.zeros(2)]
    knot.append(knot)
    assert 0 < bytes_of(knot) < 1000
