"""The sums of one pass over the data of an evaluation: losses weighted by samples, predictions that are right.

A mean is given only where every batch has had exactly one loss.
"""

from __future__ import annotations

from collections import deque
from typing import Any
from weakref import ref

import torch

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.launch.scored import BatchLoss


class EvaluationPass:
    """One iteration over one loader (or one stage of a trainer) without gradients."""

    def __init__(self, prefix: str, iterator: Any = None, *, is_evaluation: bool = False) -> None:
        self.prefix = prefix
        self.iterator = ref(iterator) if iterator is not None else lambda: None
        self.has_loader = iterator is not None
        self.is_evaluation = is_evaluation
        """Its loader says so: also what is computed with gradients counts."""
        self.batches = 0
        self.of_batch = BatchLoss()
        self.is_over = False
        """The loader has nothing more to give."""
        self._given: deque[int] = deque()
        """The samples of batches that nothing was computed of yet: several, where a loader looks ahead (Accelerate)."""
        self._samples = 0
        self._losses = self._comparisons = self._compared = 0
        self._total: Any = None
        self._right: Any = None
        self._compared_in_batch = 0
        self._predictions: list[Any] = []
        self._is_compared_twice = False
        self._matches: list[Any] = []
        """Of this batch: which predictions are right."""
        self._is_of_some = False
        """The script counts only some of them: under a mask, by weight, or whole sequences."""

    # -- what happens ---------------------------------------------------------------------------------------------

    def batch(self, samples: int) -> None:
        """The next batch has come."""
        if self._is_begun:
            self._close_batch()
        self.batches += 1
        self._given.append(samples)
        self.of_batch.begin(self._given[0])

    def end(self) -> bool:
        """The loader is exhausted; False while a batch that was fetched ahead may still be computed."""
        self.is_over = True
        if self._is_begun:
            self._close_batch()
        return not self._given

    @property
    def _is_begun(self) -> bool:
        return self._compared_in_batch > 0 or self.of_batch.is_begun

    def loss(self, name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """A loss function has returned."""
        if not self.has_loader and not self.batches:  # a stage without a loader: each loss is a batch
            self._close_batch()
        self.of_batch.made(name, function, args, kwargs, result)

    def predicted(self, result: Any) -> None:
        """An argmax, a max over a dimension, a topk; a threshold."""
        found = result if isinstance(result, torch.Tensor) else getattr(result, "indices", None)
        if isinstance(found, torch.Tensor) and found.dtype in (torch.int64, torch.bool) and found.dim():
            self._predictions.append(found)

    def converted(self, args: tuple[Any, ...], result: Any) -> None:
        """`.float()`, `.cpu()`: predictions in other memory."""
        if isinstance(result, torch.Tensor) and args:
            if self._is_predicted(args[0]):
                self._predictions.append(result)
            if self.holds_matches(args[:1]):
                self._matches.append(result)

    def compared(self, args: tuple[Any, ...], result: Any) -> None:
        """Two tensors were compared: predictions, in any shape, with labels of the same shape."""
        if len(args) != 2 or not all(isinstance(one, torch.Tensor) for one in args):
            return
        found = [self._is_predicted(one) for one in args]
        labels = args[0] if found[1] else args[1]
        if found[0] == found[1] or args[0].shape != args[1].shape:
            return
        with quietly():
            best = _best_of(result, labels)
            if best is None:
                return
            right = best.sum()
            self._right = right if self._right is None else self._right + raw.to(right, self._right.device)
        self._matches.append(result)
        self._compared_in_batch += 1
        self._compared += best.numel()

    def holds_matches(self, args: tuple[Any, ...]) -> bool:
        """Whether an operation is about which predictions of this batch are right."""
        return bool(self._matches) and any(_is_one_of(one, self._matches) for one in args)

    def selected(self, name: str, args: tuple[Any, ...]) -> None:
        """Of the right ones some are chosen: their share among all predictions is not what the script works out."""
        index = args[1] if name == "getitem" and len(args) > 1 else None
        parts = index if isinstance(index, tuple) else (index,)
        is_plain = name == "getitem" and not any(isinstance(one, torch.Tensor) for one in parts)
        self._is_of_some |= not is_plain

    def _is_predicted(self, tensor: Any) -> bool:
        return _is_one_of(tensor, self._predictions)

    def _close_batch(self) -> None:
        loss = self.of_batch.close()
        weight = (self._given.popleft() if self._given else 0) or 1
        if self._given:
            self.of_batch.begin(self._given[0])
        self._predictions, self._matches = [], []
        if self._compared_in_batch:
            self._comparisons += 1
            self._is_compared_twice |= self._compared_in_batch > 1
            self._compared_in_batch = 0
        if loss is None:
            return
        value = loss.value
        with quietly():
            number = raw.double(raw.detach(value)) if value.is_cpu else raw.float(raw.detach(value))
            number = number.reshape(()) if loss.reduction == "sum" else number.reshape(()) * weight
            self._total = number if self._total is None else self._total + raw.to(number, self._total.device)
        self._losses += 1
        self._samples += weight

    # -- the result ------------------------------------------------------------------------------------------

    def results(self) -> dict[str, float]:
        """Means over all batches; nothing where a batch was not seen, or had more than one loss."""
        if self._is_begun:
            self._close_batch()
        found: dict[str, float] = {}
        batches = self.batches if self.has_loader or self.batches else self._losses
        with quietly():
            if self._losses and self._losses == batches and not self.of_batch.is_unclear:
                found[f"{self.prefix}loss"] = float(raw.item(self._total)) / self._samples
            is_whole = self._comparisons == (batches or self._comparisons)
            if self._comparisons and is_whole and not self._is_compared_twice and not self._is_of_some:
                found[f"{self.prefix}accuracy"] = float(raw.item(self._right)) / self._compared
        return found


def _is_one_of(tensor: Any, known: list[Any]) -> bool:
    """Whether it is one of these tensors, or a view of one."""
    if not isinstance(tensor, torch.Tensor) or not known:
        return False
    place = tensor.untyped_storage().data_ptr()
    return any(one is tensor or one.untyped_storage().data_ptr() == place for one in known)


def _best_of(right: Any, labels: Any) -> Any:
    """Of the k best predictions, compared with labels that are spread out beside them, the best; None if unclear."""
    spread = [at for at, step in enumerate(labels.stride()) if step == 0 and labels.shape[at] > 1]
    if not spread:
        return right
    return right.select(spread[0], 0) if len(spread) == 1 and right.dim() == 2 else None
