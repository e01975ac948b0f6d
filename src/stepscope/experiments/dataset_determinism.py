"""Does reading a sample leave the dataset unchanged, and is evaluation data deterministic?"""

from __future__ import annotations

import copy
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch.utils.data import IterableDataset

from stepscope.events.unpatched_torch import raw
from stepscope.evidence.experiments import Outcome
from stepscope.evidence.loaders import Loader
from stepscope.experiments.experiment import Trial, experiment
from stepscope.experiments.not_checked import NotChecked
from stepscope.record import random_state
from stepscope.record.observers.loaders import live, live_data

SAMPLES = 4
MOST_BYTES = 512 << 20
_MOST_OBJECTS = 50_000


@experiment("dataset-determinism", apart=False)  # a fork would share the positions in open files
def dataset_determinism(trial: Trial) -> Outcome:
    """Read the same samples from a copy of each dataset: twice with the same random numbers, then with others."""
    loaders = [fact for fact in trial.watcher.loaders.all if fact.epochs]
    if not loaders:
        raise NotChecked("the script uses no DataLoader")
    loaders = [fact for fact in loaders if _dataset(fact) is not None]
    if not loaders:
        raise NotChecked("the datasets no longer exist")
    trains = any(fact.is_training for fact in loaders)
    passed: list[str] = []
    not_checked: list[str] = []
    for fact in loaders:
        try:
            changed, is_random = _tried(fact)
        except NotChecked as why:
            not_checked.append(f"{_name(fact)}: {why}")
            continue
        if changed is not None:
            message = f"reading sample {changed} of {_name(fact)} changes it"
            return Outcome.suspicious(message, loader=fact.number, index=changed, kind="changes")
        if is_random and trains and not fact.is_training:
            message = f"{_name(fact)}, which is not trained on, returns different values each time"
            return Outcome.suspicious(message, loader=fact.number, kind="random")
        result = "is random, as augmented data is" if is_random else "gives the same sample twice"
        passed.append(f"{_name(fact)} {result}")
    if not passed:
        raise NotChecked(not_checked[0])
    return Outcome.passed("; ".join(dict.fromkeys(passed + not_checked)))


def _dataset(fact: Loader) -> Any:
    loader = live(fact)
    return live_data(fact) if loader is None else getattr(loader, "dataset", None)


def _name(fact: Loader) -> str:
    return fact.dataset


def _tried(fact: Loader) -> tuple[int | None, bool]:
    original: Any = _dataset(fact)
    if (
        isinstance(original, IterableDataset)
        or not hasattr(original, "__getitem__")
        or not hasattr(original, "__len__")
    ):
        raise NotChecked("it is a stream")
    if sum(array.nbytes for array in _arrays(original)) > MOST_BYTES:
        raise NotChecked("it is too large to copy")
    try:
        dataset = copy.deepcopy(original)
    except Exception as fault:
        raise NotChecked(f"it cannot be copied ({type(fault).__name__})") from None
    is_random = False
    for index in range(min(SAMPLES, len(dataset))):
        state = random_state.taken()
        first = copy.deepcopy(dataset[index])
        random_state.put_back(state)
        second = copy.deepcopy(dataset[index])
        if not alike(first, second):
            if _writes(copy.deepcopy(original), index):
                return index, is_random
            is_random = True  # it has its own generator
        is_random = is_random or not alike(second, dataset[index])
    return None, is_random


def _writes(dataset: Any, index: int) -> bool:
    """Whether reading a sample changes an array of the dataset."""
    before = [(array, array.copy()) for array in _arrays(dataset)]
    dataset[index]
    return any(not np.array_equal(now, then, equal_nan=now.dtype.kind in "fc") for now, then in before)


def alike(first: Any, second: Any) -> bool:
    """Whether two samples have the same values."""
    if type(first) is not type(second):
        return False
    if isinstance(first, torch.Tensor | np.ndarray):
        one, other = (np.asarray(raw.numpy(raw.cpu(raw.detach(value))) if isinstance(value, torch.Tensor) else value)
                      for value in (first, second))  # fmt: skip
        return bool(one.shape == other.shape and np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(alike(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(alike(a, b) for a, b in zip(first, second, strict=True))
    if isinstance(first, int | float | str | bytes | bool | type(None) | np.generic):
        return bool(first == second) or first != first
    if hasattr(first, "tobytes"):  # an image
        return bool(first.tobytes() == second.tobytes())
    return True


def _arrays(dataset: Any) -> list[Any]:
    """The arrays of a dataset, tensors as arrays over the same memory."""
    queue, found = [dataset], []
    for count, value in enumerate(queue):
        if count > _MOST_OBJECTS:
            raise NotChecked("it is too large to copy")
        if isinstance(value, torch.Tensor):
            if value.device.type == "cpu" and value.layout is torch.strided and value.dtype is not torch.bfloat16:
                found.append(raw.numpy(raw.detach(value)))
        elif isinstance(value, np.ndarray):
            found.append(value)
        elif isinstance(value, list | tuple | set):
            queue.extend(list(value)[: _MOST_OBJECTS + 1])
        elif isinstance(value, dict):
            queue.extend(list(value.values())[: _MOST_OBJECTS + 1])
        elif hasattr(value, "__dict__") and not isinstance(value, type | ModuleType | FunctionType):
            queue.extend(vars(value).values())
    return found
