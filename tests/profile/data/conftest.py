"""Small pipelines whose times are known, because they sleep."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils.data import Dataset, IterableDataset

from stepscope.profile.data import probe as probes
from stepscope.profile.data.collect import DataCollector

READ_S, SLOW_S = 0.002, 0.001


class Slow:
    def __call__(self, x: Any) -> Any:
        time.sleep(SLOW_S)
        return x


def quick(x: Any) -> Any:
    return x * 2


class Compose:
    def __init__(self, transforms: list[Any]) -> None:
        self.transforms = transforms

    def __call__(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x


class Sleepy(Dataset[Any]):
    """Every sample takes READ_S, its transform SLOW_S; each is random."""

    def __init__(self, n: int = 24) -> None:
        self.n = n
        self.transform = Compose([Slow(), quick])

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> Any:
        time.sleep(READ_S)
        return self.transform(torch.rand(4) + index), index


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        for number in range(12):
            time.sleep(READ_S)
            yield torch.full((2,), float(number))


@pytest.fixture
def collector() -> Iterator[DataCollector]:
    """Started; afterwards nothing of it may be left on torch's classes."""
    import torch.utils.data._utils as utils
    import torch.utils.data.dataloader as module

    def installed() -> list[Any]:
        kinds = (module._SingleProcessDataLoaderIter, module._MultiProcessingDataLoaderIter)
        return [
            *(kind.__dict__[name] for kind in kinds for name in ("__init__", "_next_data")),
            module._MultiProcessingDataLoaderIter.__dict__["_reset"],
            module._DatasetKind.__dict__["create_fetcher"],
            module.DataLoader.__dict__["multiprocessing_context"],
            utils.worker._worker_loop,
            utils.pin_memory.pin_memory,
        ]

    before = installed()
    made = DataCollector()
    made.start()
    yield made
    made.forget()
    assert installed() == before
    assert probes.current() is None
