"""What changed between two sets of weights: names, shapes, dtypes, and how far the values moved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from stepscope.inspect.changes import Change
from stepscope.inspect.checkpoint import Checkpoint, CheckpointTensor, tensors_of
from stepscope.inspect.diff_modules import module_changes
from stepscope.inspect.figures import shape


def weight_changes(before: Any, after: Any) -> tuple[list[Change], int]:
    """Between models, state dicts and checkpoints in any combination."""
    changes: list[Change] = []
    if hasattr(before, "named_modules") and hasattr(after, "named_modules"):
        from stepscope.inspect.model_reader import read_model

        changes += module_changes(read_model(before).modules, read_model(after).modules)
    old, facts = _weights(before)
    new, other_facts = _weights(after)
    changes += _tensor_changes(*_matched(old, new, changes))
    for name in sorted(facts.keys() & other_facts.keys()):
        if facts[name] != other_facts[name]:
            changes.append(Change("tensor", "changed", name, facts[name], other_facts[name]))
    return changes, len(old.keys() & new.keys())


def _weights(value: Any) -> tuple[dict[str, CheckpointTensor], dict[str, Any]]:
    if isinstance(value, Checkpoint):
        return {tensor.name: tensor for tensor in value.tensors}, value.facts
    tensors, facts = tensors_of(value.state_dict() if hasattr(value, "state_dict") else value)
    return {tensor.name: tensor for tensor in tensors}, facts


def _tensor_changes(old: dict[str, CheckpointTensor], new: dict[str, CheckpointTensor]) -> Iterator[Change]:
    yield from (Change("tensor", "removed", name, _words(old[name])) for name in old if name not in new)
    yield from (Change("tensor", "added", name, None, _words(new[name])) for name in new if name not in old)
    for name, tensor in old.items():
        other = new.get(name)
        if other is None:
            continue
        if (tensor.shape, tensor.dtype) != (other.shape, other.dtype):
            same = tensor.shape == other.shape
            yield Change(
                "tensor", "changed", name, _words(tensor), _words(other), _distance(tensor, other) if same else {}
            )
            continue
        details = _distance(tensor, other)
        if details:
            yield Change("tensor", "changed", name, details=details)


def _matched(
    old: dict[str, CheckpointTensor], new: dict[str, CheckpointTensor], modules: list[Change]
) -> tuple[dict[str, CheckpointTensor], dict[str, CheckpointTensor]]:
    """Without what the modules already cover: those added or removed as a whole, and the old names of moved ones."""
    moved = {change.before: change.after for change in modules if change.kind == "renamed"}
    gone = [change.name for change in modules if change.kind == "removed"]
    come = [change.name for change in modules if change.kind == "added"]
    kept = {_moved(name, moved): tensor for name, tensor in old.items() if not _inside(name, gone)}
    return kept, {name: tensor for name, tensor in new.items() if not _inside(name, come)}


def _inside(name: str, paths: Sequence[str]) -> bool:
    return any(name.startswith(f"{path}.") for path in paths)


def _moved(name: str, moved: dict[str, str]) -> str:
    return next((to + name[len(path) :] for path, to in moved.items() if name.startswith(f"{path}.")), name)


def _words(tensor: CheckpointTensor) -> str:
    return f"{shape(tensor.shape)} {tensor.dtype}"


def _distance(old: CheckpointTensor, new: CheckpointTensor) -> dict[str, float]:
    """How far the values moved: maximum difference, relative to the old norm, and cosine; {} if they are equal."""
    left, right = old.pieces(), new.pieces()
    if left is None or right is None:
        return {}
    largest = moved = dot = norm = other_norm = 0.0
    unlike = 0
    for a, b in zip(left, right, strict=True):
        usable = np.isfinite(a) & np.isfinite(b)
        unlike += int(np.count_nonzero(~usable & ~((a == b) | (np.isnan(a) & np.isnan(b)))))
        a, b = a[usable], b[usable]
        if a.size:
            gap = np.abs(a - b)
            largest = max(largest, float(gap.max()))
            moved += float(np.square(gap).sum())
            dot += float(a @ b)
            norm += float(a @ a)
            other_norm += float(b @ b)
    if not moved and not unlike:
        return {}
    found = {"max_abs": largest}
    if norm:
        found["relative"] = math.sqrt(moved / norm)
    if norm and other_norm:
        found["cosine"] = dot / math.sqrt(norm * other_norm)
    return {**found, "not_finite": unlike} if unlike else found
