"""Recurrent layers and transformers given batches the other way round: batch first where time was expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.crash.batches import numbers_in
from stepscope.diagnose.crash.frames import several
from stepscope.diagnose.crash.layers import Layer, built_at
from stepscope.diagnose.sequence_layers import KINDS, reads_batch_first
from stepscope.evidence.frame_values import HeldTensor
from stepscope.evidence.modules import Module
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.crash.crash import Crash


_SIGNS = (r"batch_size", r"must match", r"different (to|from) the input size", r"key_padd(ed|ing)_mask")
_BATCHES = r"batch number of src and tgt must be equal"


@dataclass(frozen=True)
class Turned:
    """A layer that takes the first axis for time (or for the batch) where it is the other."""

    module: Module
    path: str
    site: Site | None
    shape: tuple[int, ...]
    batch: int
    seen_as: int


def turned_recurrent(crash: Crash) -> Turned | None:
    """The layer whose two first axes are taken for one another, when that explains the sizes that do not fit."""
    for layer in reversed(crash.layers):
        if layer.module.is_a("RNNBase") and layer.input is not None and layer.input.ndim == 3:
            return _by_hidden(layer, layer.input, layer.frame.locals.get("hx"))
    attention = _attention(crash)
    if attention is not None:
        return attention
    numbers = numbers_in(crash.message.replace("[0]", ""))
    if crash.says(_BATCHES):
        return _by_batches(crash)
    if not crash.says(*_SIGNS) or len(numbers) < 2:
        return None
    return _by_visits(crash, set(numbers)) or _by_models(crash, set(numbers))


def _attention(crash: Crash) -> Turned | None:
    """Queries and keys of one batch and two lengths, for a layer that looks for the batch on the second axis."""
    layer = next((one for one in reversed(crash.layers) if one.module.is_a("MultiheadAttention")), None)
    if layer is None or layer.module.attributes.get("batch_first") or not crash.says(r"invalid for input|must match"):
        return None
    shapes = [tensor.shape for _, tensor in layer.inputs[:2]]
    if len(shapes) < 2 or any(len(one) != 3 for one in shapes):
        return None
    query, key = shapes
    if query[0] != key[0] or query[1] == key[1]:
        return None
    return Turned(layer.module, layer.path, layer.site, query, query[0], query[1])


def _by_hidden(layer: Layer, given: HeldTensor, hidden: Any) -> Turned | None:
    states = several(hidden)
    state = states[0] if states else hidden
    if not isinstance(state, HeldTensor) or state.ndim != 3:
        return None
    first, second = given.shape[:2]
    held = layer.module.attributes
    seen_as, other = (first, second) if held.get("batch_first") else (second, first)
    if state.shape[1] != other or seen_as == other or state.shape[-1] != held.get("hidden_size"):
        return None
    return Turned(layer.module, layer.path, layer.site, given.shape, other, seen_as)


def _by_visits(crash: Crash, numbers: set[int]) -> Turned | None:
    for visit in crash.visits:
        module = visit.module
        shape = visit.shapes_in[0] if visit.shapes_in else ()
        if not module.is_a(*KINDS) or len(shape) != 3 or reads_batch_first(module):
            continue
        if shape[0] != shape[1] and {shape[0], shape[1]} <= numbers and not _are_samples_second(crash, shape):
            site = built_at(crash.modules, visit.root.module, visit.path)
            return Turned(module, visit.path, site, shape, shape[0], shape[1])
    return None


def _are_samples_second(crash: Crash, shape: tuple[int, ...]) -> bool:
    """Whether the labels in sight are as many as the second axis is long: then time is the first one, as expected."""
    data = [value for _, value, _ in crash.values() if isinstance(value, HeldTensor) and value.ndim == 1]
    lengths = {one.shape[0] for one in data if not one.has_graph}
    return shape[1] in lengths and shape[0] not in lengths


def _by_batches(crash: Crash) -> Turned | None:
    """An `nn.Transformer` that finds two lengths where it looks for one batch."""
    layer = next((one for one in reversed(crash.layers) if one.module.is_a("Transformer")), None)
    shapes = [] if layer is None else [tensor.shape for _, tensor in layer.inputs[:2]]
    if layer is None or reads_batch_first(layer.module) or len(shapes) < 2 or any(len(one) != 3 for one in shapes):
        return None
    first, second = shapes
    if first[0] != second[0] or first[1] == second[1]:
        return None
    return Turned(layer.module, layer.path, layer.site, first, first[0], first[1])


def _by_models(crash: Crash, numbers: set[int]) -> Turned | None:
    """Without visits: a model in sight with one such layer, and data whose first two axes are the two numbers."""
    models = [value for _, value, _ in crash.values() if isinstance(value, Module)]
    data = [value for _, value, _ in crash.values() if isinstance(value, HeldTensor) and value.ndim in (2, 3)]
    shapes = [t.shape for t in data if not t.has_graph and {t.shape[0], t.shape[1]} <= numbers]
    for model in models:
        turned = [(p, m) for p, m in model.named_modules() if m.is_a(*KINDS) and not reads_batch_first(m)]
        if turned and shapes and shapes[0][0] != shapes[0][1] and not _are_samples_second(crash, shapes[0]):
            path, module = turned[0]
            return Turned(module, path, built_at(crash.modules, model, path), shapes[0], shapes[0][0], shapes[0][1])
    return None
