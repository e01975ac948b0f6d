"""The samples that were to become one batch: which are odd, and where the dataset makes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import several
from stepscope.diagnose.crash.provenance import dataset_steps
from stepscope.records.step import Site

Shape = tuple[int, ...]


def odd_samples(crash: Crash, shapes: Sequence[Shape]) -> tuple[Shape, list[tuple[int, Shape]]]:
    """The usual shape, and the samples (by their number in the dataset where known) that have another."""
    if not shapes:
        return (), []
    usual = Counter(shapes).most_common(1)[0][0]
    if len(set(shapes)) == len(shapes):  # all different: none is usual
        usual = shapes[0]
    numbers = _numbers(crash)
    named = numbers if len(numbers) == len(shapes) else list(range(len(shapes)))
    return usual, [(named[i], shape) for i, shape in enumerate(shapes) if shape != usual]


def _numbers(crash: Crash) -> list[int]:
    """The samples' numbers in the dataset: the fetcher knows them."""
    for frame in crash.frames:
        found = several(frame.locals.get("possibly_batched_index"))
        if found is not None and all(isinstance(n, int) for n in found):
            return found
    return []


def sample_source(crash: Crash) -> Site | None:
    """Where the dataset makes a sample: what `__getitem__` returns."""
    for dataset in crash.datasets:
        returns = [step for step in dataset_steps(crash, dataset) if step.op == "return"]
        if returns:
            return returns[0].site
    return None
