"""Changes to datasets: samples made once and kept, and batches taken with one index."""

from __future__ import annotations

import random
from functools import wraps
from typing import Any

from stepscope.events import Installed
from stepscope.events.imports import Imports

_FETCH = "torch.utils.data._utils.fetch:_MapDatasetFetcher.fetch"
_MOST_SAMPLES = 100_000
_FEW = 64


def cached_samples(settings: dict[str, Any], imports: Imports, installed: Installed) -> None:
    """Every sample of a dataset is read once, before its first batch, and kept as it is."""

    def came(module: Any) -> None:
        kept: dict[int, list[Any]] = {}

        def layer(plain: Any) -> Any:
            @wraps(plain)
            def fetch(fetcher: Any, indices: Any) -> Any:
                samples = kept.get(id(fetcher.dataset))
                if samples is None:
                    samples = kept[id(fetcher.dataset)] = _all_of(fetcher.dataset)
                if not samples or not fetcher.auto_collation:
                    return plain(fetcher, indices)
                return fetcher.collate_fn([samples[index] for index in indices])

            return fetch

        installed.wrap(_FETCH, layer)

    imports.when("torch.utils.data.dataloader", came)


def _all_of(dataset: Any) -> list[Any]:
    """All samples, read without moving the script's random numbers; none of a dataset that is too large."""
    import numpy as np
    import torch

    try:
        length = len(dataset)
    except TypeError:
        return []
    if length > _MOST_SAMPLES:
        return []
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    samples = [dataset[index] for index in range(length)]
    torch.set_rng_state(states[0])
    np.random.set_state(states[1])
    random.setstate(states[2])
    return samples


def whole_batches(settings: dict[str, Any], imports: Imports, installed: Installed) -> None:
    """A TensorDataset gives a whole batch with one index operation for each of its tensors."""

    def came(module: Any) -> None:
        from torch.utils.data import TensorDataset

        def layer(plain: Any) -> Any:
            @wraps(plain)
            def fetch(fetcher: Any, indices: Any) -> Any:
                if type(fetcher.dataset) is not TensorDataset or not fetcher.auto_collation:
                    return plain(fetcher, indices)
                return [tensor[indices] for tensor in fetcher.dataset.tensors]

            return fetch

        installed.wrap(_FETCH, layer)

    imports.when("torch.utils.data.dataloader", came)


def few_samples_kept(installed: Installed) -> None:
    """Samples are made once and kept: a few of them, standing for all, so that a running training need not wait."""
    kept: dict[int, list[Any]] = {}

    def layer(plain: Any) -> Any:
        @wraps(plain)
        def fetch(fetcher: Any, indices: Any) -> Any:
            if not fetcher.auto_collation:
                return plain(fetcher, indices)
            samples = kept.get(id(fetcher.dataset))
            if samples is None:
                samples = kept[id(fetcher.dataset)] = [fetcher.dataset[index] for index in list(indices)[:_FEW]]
            return fetcher.collate_fn([samples[at % len(samples)] for at in range(len(indices))])

        return fetch

    installed.wrap(_FETCH, layer)
