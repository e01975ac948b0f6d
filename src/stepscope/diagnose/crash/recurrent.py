"""Recurrent layers and transformers given batches the other way round: batch first where time was expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from stepscope.diagnose.crash.batches import numbers_in
from stepscope.diagnose.crash.layers import built_at
from stepscope.diagnose.sequence_layers import SEQUENTIAL, is_batch_first
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.crash.crash import Crash

__all__ = ["Turned", "turned_recurrent"]


@dataclass(frozen=True)
class Turned:
    """A layer that takes the first axis for time (or for the batch) where it is the other."""

    module: nn.Module
    path: str
    site: Site | None
    shape: tuple[int, ...]
    batch: int
    seen_as: int


def turned_recurrent(crash: Crash) -> Turned | None:
    """The layer whose two first axes are taken for one another, when that explains the sizes that do not fit."""
    for layer in reversed(crash.layers):
        if isinstance(layer.module, nn.RNNBase) and layer.input is not None and layer.input.ndim == 3:
            return _by_hidden(layer.module, layer.path, layer.site, layer.input, layer.frame.locals.get("hx"))
    numbers = numbers_in(crash.message)
    if not crash.says(r"batch_size", r"must match", r"different (to|from) the input size") or len(numbers) < 2:
        return None
    return _by_visits(crash, set(numbers)) or _by_models(crash, set(numbers))


def _by_hidden(module: nn.RNNBase, path: str, site: Site | None, given: Any, hidden: Any) -> Turned | None:
    state = hidden[0] if isinstance(hidden, (tuple, list)) and hidden else hidden
    if not isinstance(state, torch.Tensor) or state.ndim != 3:
        return None
    first, second = int(given.shape[0]), int(given.shape[1])
    seen_as, other = (first, second) if module.batch_first else (second, first)
    if state.shape[1] != other or seen_as == other or state.shape[-1] != module.hidden_size:
        return None
    return Turned(module, path, site, tuple(given.shape), other, seen_as)


def _by_visits(crash: Crash, numbers: set[int]) -> Turned | None:
    for visit in crash.visits:
        module = visit.module.live
        shape = visit.shapes_in[0] if visit.shapes_in else ()
        if not isinstance(module, SEQUENTIAL) or len(shape) != 3 or is_batch_first(module):
            continue
        if shape[0] != shape[1] and {shape[0], shape[1]} <= numbers:
            root = visit.root.module.live
            site = None if root is None else built_at(root, visit.path)
            return Turned(module, visit.path, site, shape, shape[0], shape[1])
    return None


def _by_models(crash: Crash, numbers: set[int]) -> Turned | None:
    """Without visits: a model in sight with one such layer, and data whose first two axes are the two numbers."""
    models = [value for _, value, _ in crash.values() if isinstance(value, nn.Module)]
    data = [value for _, value, _ in crash.values() if isinstance(value, torch.Tensor) and value.ndim in (2, 3)]
    shapes = [tuple(t.shape) for t in data if t.grad_fn is None and {int(t.shape[0]), int(t.shape[1])} <= numbers]
    for model in models:
        turned = [(p, m) for p, m in model.named_modules() if isinstance(m, SEQUENTIAL) and not is_batch_first(m)]
        if turned and shapes and shapes[0][0] != shapes[0][1]:
            path, module = turned[0]
            return Turned(module, path, built_at(model, path), shapes[0], shapes[0][0], shapes[0][1])
    return None
