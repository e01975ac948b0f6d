"""The loss of one batch of an evaluation: what the loss functions gave, as the script adds and scales it.

A sum of several terms is one loss (a reconstruction and a KL term); adding to what earlier batches gave is not. Where
it cannot be told whether a number is a mean over samples or a sum, there is no loss.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

_SUMS = frozenset(("add", "add_", "sub", "sub_", "rsub"))
_SCALES = frozenset(("mul", "mul_", "div", "div_", "true_divide"))
_OF_CLASSES = frozenset(("cross_entropy", "nll_loss"))
_OF_VECTORS = frozenset(("triplet_margin_loss", "cosine_embedding_loss", "ctc_loss"))
"""Losses that are one a sample, whatever their inputs look like."""
ARITHMETIC = _SUMS | _SCALES | {"neg", "pow"}
REDUCTIONS = frozenset(("mean", "sum"))


@dataclass
class _Scalar:
    """A number of this batch with a loss in it."""

    value: Any
    reduction: str


class BatchLoss:
    """Numbers are known by identity, and held until the next batch: without gradients they hold no graph."""

    def __init__(self) -> None:
        self.is_unclear = False
        """A batch had no single loss, or one of unknown reduction."""
        self.divides_by_samples: Callable[[], bool] = lambda: False
        """Whether the script divides its sums by the number of samples, as far as its source says."""
        self._scalars: dict[int, _Scalar] = {}
        self._each: dict[int, Any] = {}
        """Losses of every sample, not reduced yet."""
        self._totals: dict[int, Any] = {}
        """What the script adds the losses of all batches to."""
        self._target: Any = None
        self._samples = 0

    @property
    def is_begun(self) -> bool:
        return bool(self._scalars or self._each)

    def begin(self, samples: int) -> None:
        self._samples = samples

    def close(self) -> _Scalar | None:
        """The loss of the batch that is over; what is added to from now on is a total."""
        found = list(self._scalars.values())
        self._totals |= {id(one.value): one.value for one in found}
        self._scalars, self._each = {}, {}
        self.is_unclear |= len(found) > 1
        return found[0] if len(found) == 1 else None

    # -- what happens ---------------------------------------------------------------------------------------------

    def made(self, name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """A loss function has returned."""
        if not isinstance(result, torch.Tensor):
            return
        reduction = reduction_of(function, args, kwargs)
        if result.numel() != 1 or reduction == "none":
            self._each[id(result)] = result
            return
        target = args[1] if len(args) > 1 else (kwargs or {}).get("target")
        if reduction == "sum" and not self._is_one_a_sample(name, args, target):
            self.is_unclear |= name in _OF_CLASSES or not self.divides_by_samples()
        self._scalars[id(result)] = _Scalar(result, reduction)

    def holds(self, args: tuple[Any, ...]) -> bool:
        """Whether an operation is about a loss of this batch."""
        return any(id(one) in self._scalars or id(one) in self._each for one in args)

    def reduced(self, name: str, args: tuple[Any, ...], result: Any) -> None:
        """`mean` or `sum`: of losses of every sample it is their loss."""
        if id(args[0]) in self._each and result.numel() == 1:
            of = self._each.pop(id(args[0]))
            self.is_unclear |= len(args) > 1 or (name == "sum" and of.numel() != self._samples)
            self._scalars[id(result)] = _Scalar(result, name)

    def used(self, name: str, args: tuple[Any, ...], result: Any) -> None:
        """Arithmetic with a loss among the arguments: the result is the loss now, or a total over batches."""
        if any(id(one) in self._each for one in args):
            self.is_unclear = True  # weighted or masked before it is reduced
            return
        if self._is_added_up(name, args):
            self._totals = {key: value for key, value in self._totals.items() if value is not args[0]}
            self._totals[id(result)] = result
            return
        parts = [self._scalars.pop(id(one)) for one in args if id(one) in self._scalars]
        others = [one for one in args if not any(one is part.value for part in parts)]
        reduction = self._reduction(name, parts, others)
        if reduction is None:
            self.is_unclear = True
        self._scalars[id(result)] = _Scalar(result, reduction or "mean")

    # -- what it means --------------------------------------------------------------------------------------------

    def _is_added_up(self, name: str, args: tuple[Any, ...]) -> bool:
        """`total += loss`: the total is of earlier batches, or in the first batch a tensor that no loss made."""
        if name not in ("add", "add_"):
            return False
        if any(id(one) in self._totals for one in args):
            return True
        if name == "add_" and id(args[0]) not in self._scalars:
            self.is_unclear |= self._target is not None and self._target is not args[0]
            self._target = args[0]  # the same one in every batch, or it is a term of the loss
            return True
        return False

    def _is_one_a_sample(self, name: str, args: Any, target: Any) -> bool:
        """Whether the losses that were summed are one a sample; else they are of words, pixels or numbers."""
        if name in _OF_CLASSES and isinstance(target, torch.Tensor):
            return target.is_floating_point() or target.numel() == (self._samples or target.numel())
        of = args[0] if args and name not in _OF_VECTORS else None
        return not isinstance(of, torch.Tensor) or of.numel() == (self._samples or of.numel())

    def _reduction(self, name: str, parts: list[_Scalar], others: list[Any]) -> str | None:
        kinds = {part.reduction for part in parts}
        if len(kinds) != 1:
            return None
        (kind,) = kinds
        if name in _SUMS or name == "neg" or not others:
            return kind
        if name not in _SCALES or len(parts) > 1 or isinstance(others[0], torch.Tensor):
            return None
        factor = others[0]
        if isinstance(factor, float) and not factor.is_integer():
            return kind
        if factor == 1:
            return kind
        if factor != self._samples:  # by words, by pixels: not by samples
            return None
        is_product = name.startswith("mul")
        return {(True, "mean"): "sum", (False, "sum"): "mean"}.get((is_product, kind))


def reduction_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """How a loss was brought down to one number, also by the older `size_average`."""
    given = dict(kwargs or {})
    names = _parameters(function)
    given.update(zip(names, args, strict=False))
    if given.get("size_average") is not None or given.get("reduce") is not None:
        if given.get("reduce") is False:
            return "none"
        return "sum" if given.get("size_average") is False else "mean"
    return str(given.get("reduction", "mean"))


@lru_cache(maxsize=64)
def _parameters(function: Any) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()
