"""The sums of one pass over the data of an evaluation: losses weighted by samples, predictions that are right.

A mean is given only where every batch has had exactly one loss, and that loss was used as it came: a term that the
script adds something to (a KL term, a penalty) is not what the script means by its loss.
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any
from weakref import ref

import torch

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw

__all__ = ["ARITHMETIC", "EvaluationPass"]

ARITHMETIC = frozenset(
    ("add", "add_", "sub", "sub_", "rsub", "mul", "mul_", "div", "div_", "true_divide", "pow", "neg")
)
_WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


class EvaluationPass:
    """One iteration over one loader (or one stage of a trainer) without gradients."""

    def __init__(self, prefix: str, iterator: Any = None) -> None:
        self.prefix = prefix
        self.iterator = ref(iterator) if iterator is not None else lambda: None
        self.has_loader = iterator is not None
        self.batches = 0
        self._samples = self._batch_samples = 0
        self._losses = self._comparisons = self._compared = 0
        self._total: Any = None
        self._right: Any = None
        self._of_batch: list[tuple[Any, str]] = []
        self._compared_in_batch = 0
        self._predictions: list[Any] = []
        self._is_mixed = self._is_compared_twice = False

    # -- what happens ---------------------------------------------------------------------------------------------

    def batch(self, samples: int) -> None:
        """The next batch has come."""
        self._close_batch()
        self.batches += 1
        self._batch_samples = samples

    def loss(self, function: Any, args: Any, kwargs: Any, result: Any) -> None:
        """A loss function has returned."""
        if isinstance(result, torch.Tensor) and result.numel() == 1:
            if not self.has_loader and not self.batches:  # a stage without a loader: each loss is a batch
                self._close_batch()
            self._of_batch.append((result, reduction_of(function, args, kwargs)))

    def used(self, args: Any) -> None:
        """Arithmetic on tensors: a loss among them is only a part of something."""
        for loss, _ in self._of_batch:
            if any(one is loss for one in args):
                self._is_mixed = True

    def predicted(self, result: Any) -> None:
        """An argmax, a max over a dimension, a topk."""
        indices = result if isinstance(result, torch.Tensor) else getattr(result, "indices", None)
        if isinstance(indices, torch.Tensor) and indices.dtype == torch.int64:
            self._predictions.append(indices)

    def compared(self, args: Any, result: Any) -> None:
        """Two tensors were compared: predictions, in any shape, with labels of the same shape."""
        if len(args) != 2 or not all(isinstance(one, torch.Tensor) and one.dtype in _WHOLE for one in args):
            return
        found = [self._is_predicted(one) for one in args]
        labels = args[0] if found[1] else args[1]
        if found[0] == found[1] or args[0].shape != args[1].shape or 0 in labels.stride():
            return
        self._compared_in_batch += 1
        with quietly():
            right = result.sum()
            self._right = right if self._right is None else self._right + raw.to(right, self._right.device)
        self._compared += result.numel()

    def _is_predicted(self, tensor: Any) -> bool:
        place = tensor.untyped_storage().data_ptr()
        return any(one is tensor or one.untyped_storage().data_ptr() == place for one in self._predictions)

    def _close_batch(self) -> None:
        losses, self._of_batch = self._of_batch, []
        self._predictions = []
        if self._compared_in_batch:
            self._comparisons += 1
            self._is_compared_twice |= self._compared_in_batch > 1
            self._compared_in_batch = 0
        if not losses:
            return
        self._is_mixed |= len(losses) > 1
        loss, reduction = losses[0]
        weight = self._batch_samples or 1
        with quietly():
            value = raw.double(raw.detach(loss)).reshape(()) if loss.is_cpu else raw.float(raw.detach(loss)).reshape(())
            value = value if reduction == "sum" else value * weight
            self._total = value if self._total is None else self._total + raw.to(value, self._total.device)
        self._losses += 1
        self._samples += weight

    # -- what came of it ------------------------------------------------------------------------------------------

    def results(self) -> dict[str, float]:
        """Means over all batches; nothing where a batch was not seen, or had more than one loss."""
        self._close_batch()
        found: dict[str, float] = {}
        batches = self.batches if self.has_loader or self.batches else self._losses
        with quietly():
            if self._losses and self._losses == batches and not self._is_mixed:
                found[f"{self.prefix}loss"] = float(raw.item(self._total)) / self._samples
            is_whole = self._comparisons == (batches or self._comparisons)
            if self._comparisons and is_whole and not self._is_compared_twice:
                found[f"{self.prefix}accuracy"] = float(raw.item(self._right)) / self._compared
        return found


def reduction_of(function: Any, args: Any, kwargs: Any) -> str:
    """How a loss was brought down to one number, also by the older `size_average`."""
    given = dict(kwargs or {})
    names = _parameters(function)
    given.update(zip(names, args, strict=False))
    if given.get("size_average") is not None or given.get("reduce") is not None:
        return "sum" if given.get("size_average") is False else "mean"
    return str(given.get("reduction", "mean"))


@lru_cache(maxsize=64)
def _parameters(function: Any) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()
