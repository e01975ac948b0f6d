"""The ideal loader: batches that are there already, passes as long as they were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

from stepscope.profile.data.diversion import batch_bytes, fresh
from stepscope.profile.data.ideal import IdealLoader, IdealResult

from .conftest import Sleepy, Stream


@pytest.fixture
def ideal() -> Iterator[IdealLoader]:
    import torch.utils.data.dataloader as module

    before = (module.DataLoader._get_iterator, module._SingleProcessDataLoaderIter._next_data)
    made = IdealLoader(keep=3)
    made.install(module)
    yield made
    made.remove()
    assert (module.DataLoader._get_iterator, module._SingleProcessDataLoaderIter._next_data) == before


@pytest.mark.parametrize("workers", [0, 1])
def test_after_the_first_batches_the_kept_ones_come_again(ideal: IdealLoader, workers: int) -> None:
    loader = DataLoader(Sleepy(20), batch_size=2, num_workers=workers)
    first = [batch[1].tolist() for batch in loader]
    second = [batch[1].tolist() for batch in loader]
    assert first == [[0, 1], [2, 3], [4, 5], [0, 1], [2, 3], [4, 5], [0, 1], [2, 3], [4, 5], [0, 1]]
    assert second == first
    assert ideal.is_free


def test_a_pass_shorter_than_what_is_kept_stays_as_it_is(ideal: IdealLoader) -> None:
    loader = DataLoader(Sleepy(4), batch_size=2)
    assert [len(list(loader)) for _ in range(3)] == [2, 2, 2]


def test_free_data_is_faster_and_it_says_so(ideal: IdealLoader) -> None:
    for _ in DataLoader(Sleepy(160), batch_size=2):
        pass
    (result,) = IdealLoader.results(ideal)
    assert result.dataset == "Sleepy"
    assert result.free_batches > 50
    assert result.free_s is not None
    assert result.free_s < 0.003


def test_the_text_of_a_result() -> None:
    assert IdealResult("Photos", 0.05, 0.01, 20, 40).text() == (
        "Photos: 20 batches/s as is, 100 with free data (5x; 20 and 40 batches)"
    )
    assert "too few" in IdealResult("Photos", None, 0.01, 1, 40).text()


def test_a_stream_goes_on_with_what_was_kept(ideal: IdealLoader) -> None:
    iterator = iter(DataLoader(Stream(), batch_size=2))
    found = [next(iterator)[0, 0].item() for _ in range(8)]
    assert found == [0.0, 2.0, 4.0, 0.0, 2.0, 4.0, 0.0, 2.0]


def test_a_script_may_change_the_containers_it_was_given() -> None:
    batch: dict[str, Any] = {"x": torch.zeros(2), "parts": [torch.ones(1)]}
    again = fresh(batch)
    again.pop("x")
    again["parts"].clear()
    assert set(batch) == {"x", "parts"}
    assert len(batch["parts"]) == 1
    assert fresh(batch)["x"] is batch["x"]
    assert batch_bytes(batch) == 12
