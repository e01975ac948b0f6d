"""Tries whether a model's answers depend on how much padding a batch has, in the fork of `input_perturbation`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.unpatched_torch import raw
from stepscope.evidence.padding_trials import PaddingTrial, PaddingTrials
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.sequences import can_keep, padding_of

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher

__all__ = ["PaddingTrialObserver"]

_FEWEST_ROWS = 4


class PaddingTrialObserver(Observer, PaddingTrials):
    def __init__(self, watcher: Watcher) -> None:
        PaddingTrials.__init__(self)
        super().__init__(watcher)

    def tried(self, visit: Visit, answer: dict[str, Any] | None) -> None:
        """What came of a trial in the fork."""
        if answer:
            self.all.append(PaddingTrial(visit, **answer))


def padded(given: tuple[Any, Any], answers: Callable[[tuple[Any, Any]], list[Any]]) -> dict[str, Any] | None:
    """Call a model with more padding, if its sequences are padded; `given` is (args, kwargs)."""
    found = next((pads for one in tensors_in(given) if (pads := _pads(one)) is not None), None)
    if found is None:
        return None
    rows, steps = found.shape
    before = answers(given)
    for added in (steps, max(1, steps // 4)):
        longer = _mapped(given, partial(_longer, mask=found, added=added))
        try:
            after = answers(longer)
        except Exception:  # it has positions for so many steps only, or layers of this size
            continue
        measured = [one for pair in zip(before, after, strict=False) if (one := _change(*pair, found)) is not None]
        if measured:
            change, each_step = measured[0]
            share = float(raw.item(raw.mean(raw.float(found))))
            return {
                "rows": rows, "steps": steps, "padding": share, "added": added, "change": change, "each_step": each_step
            }  # fmt: skip
    return None


def _pads(tensor: Any) -> Any:
    """Where a batch of sequences is padded; None where it is not."""
    if not can_keep(tensor) or tensor.shape[0] < _FEWEST_ROWS or tensor.shape[1] < 3:
        return None
    found = padding_of(raw.detach(tensor))
    return None if found is None else found.mask


def _longer(tensor: Any, mask: Any, added: int) -> Any:
    """With more padded steps, if it has one value (or row) for each step."""
    if tensor.dim() < 2 or tensor.shape[:2] != mask.shape:
        return tensor
    padding = raw.detach(tensor)[mask][:1].unsqueeze(0)
    return raw.cat([raw.detach(tensor), padding.expand(tensor.shape[0], added, *tensor.shape[2:])], 1)


def _change(before: Any, after: Any, mask: Any) -> tuple[float, bool] | None:
    rows, steps = mask.shape
    if before.dim() < 2 or before.shape[0] != rows:
        return None
    if before.shape == after.shape:
        return _relative(before.reshape(rows, -1), after.reshape(rows, -1)), False
    if before.shape[:2] == mask.shape and after.shape[2:] == before.shape[2:] and after.shape[1] > steps:
        kept = ~mask
        return _relative(before[kept].reshape(-1, 1), after[:, :steps][kept].reshape(-1, 1)), True
    return None


def _relative(before: Any, after: Any) -> float:
    spread = float(raw.item((before - before.mean(0)).square().mean().sqrt()))
    moved = float(raw.item((after - before).square().mean().sqrt()))
    return moved / spread if spread > 0 and moved == moved else 0.0


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same nested arguments with each tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(_mapped(item, change) for item in value)
    if type(value) is dict:
        return {key: _mapped(item, change) for key, item in value.items()}
    return value
