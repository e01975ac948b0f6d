"""What a loader, a dataset or any iterable delivers, taken in this process: samples as they are, and batches of them.

Random numbers are put back and nothing runs in workers, so a breakpoint in a dataset stops there. A loader is not
iterated itself: its sampler, its dataset and its collate function are asked, as its own iterator would ask them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stepscope.common import clocks
from stepscope.errors import UsageError


class Drawn:
    """What was taken, and what went wrong."""

    def __init__(self) -> None:
        self.samples: list[Any] = []
        """Before collation."""
        self.batches: list[Any] = []
        """After it."""
        self.sizes: list[int] = []
        """How many samples each batch has."""
        self.error: str = ""
        self.seconds: float = 0.0


_PATIENCE = 10
"""A source that waits (for a disk, the net) may take this many times the CPU time that it may use."""


def draw(source: Any, *, samples: int, seconds: float) -> Drawn:
    """Take about this many samples, within this many CPU seconds: a busy machine does not change what is seen."""
    drawn = Drawn()
    began, worked = clocks.perf_counter(), clocks.thread_time()
    with _random_numbers_kept(source):
        try:
            for _ in _taken(source, drawn):
                if len(drawn.samples) >= samples or clocks.thread_time() - worked > seconds:
                    break
                if clocks.perf_counter() - began > _PATIENCE * seconds:
                    break
                if not drawn.samples and len(drawn.batches) >= 4:  # batches come ready made: four are enough
                    break
        except UsageError:
            raise
        except Exception as fault:  # the pipeline's own fault: said, with what came before it
            drawn.error = f"{type(fault).__name__}: {fault}"
    drawn.seconds = clocks.perf_counter() - began
    return drawn


def _taken(source: Any, drawn: Drawn) -> Iterator[None]:
    if _is_loader(source):
        yield from _of_loader(source, drawn)
    elif hasattr(source, "__getitem__") and hasattr(source, "__len__"):
        for index in range(len(source)):
            drawn.samples.append(source[index])
            yield
    elif hasattr(source, "__next__"):
        raise UsageError(
            f"a {type(source).__name__} can be read only once, and examining it would use it up; "
            "give the loader or the dataset itself"
        )
    elif hasattr(source, "__iter__"):
        for batch in source:
            drawn.batches.append(batch)
            yield
    else:
        raise UsageError(f"stepscope.data needs a DataLoader, a Dataset or an iterable, not a {type(source).__name__}")


def _is_loader(source: Any) -> bool:
    from torch.utils.data import DataLoader

    return isinstance(source, DataLoader)


def _of_loader(loader: Any, drawn: Drawn) -> Iterator[None]:
    from torch.utils.data import DataLoader, IterableDataset

    dataset, collate = loader.dataset, loader.collate_fn
    if isinstance(dataset, IterableDataset):
        groups = _groups(iter(dataset), loader)
    elif loader.batch_sampler is not None:
        groups = (_fetched(dataset, list(indices)) for indices in loader.batch_sampler)
    else:
        groups = ([dataset[index]] for index in loader.sampler)
    own_iteration = "__iter__" in type(loader).__dict__ and type(loader) is not DataLoader
    for group in groups:
        drawn.samples.extend(group)
        if not own_iteration:
            drawn.batches.append(collate(group if loader.batch_size is not None or loader.batch_sampler else group[0]))
            drawn.sizes.append(len(group))
        yield
    if own_iteration and not drawn.batches:
        drawn.batches.extend(itertools.islice(loader, 2))


def _groups(stream: Iterator[Any], loader: Any) -> Iterator[list[Any]]:
    size = loader.batch_size or 1
    while group := list(itertools.islice(stream, size)):
        if len(group) == size or not loader.drop_last:
            yield group


def _fetched(dataset: Any, indices: list[Any]) -> list[Any]:
    several = getattr(dataset, "__getitems__", None)
    return list(several(indices)) if callable(several) else [dataset[index] for index in indices]


@contextmanager
def _random_numbers_kept(source: Any) -> Iterator[None]:
    from stepscope.record import random_state

    state = random_state.taken()
    parts = (source, getattr(source, "sampler", None), getattr(getattr(source, "batch_sampler", None), "sampler", None))
    generators = {id(g): g for part in parts if (g := getattr(part, "generator", None)) is not None}
    states = [(g, g.get_state()) for g in generators.values() if hasattr(g, "get_state")]
    try:
        yield
    finally:
        random_state.put_back(state)
        for generator, before in states:
            generator.set_state(before)
