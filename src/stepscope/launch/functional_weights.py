"""Weights that `torch.func.functional_call` puts into models while gradients of them are made, and their updates.

Nothing is changed in place there and no backward is reported: an update makes new tensors from the old ones, and the
script drops these. So tensors in new memory where others were, which are gone, are an update.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

import torch

from stepscope.events import aside
from stepscope.events.quiet import quietly

__all__ = ["FunctionalWeights"]

_MOST_WEIGHTS = 4
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_wrapping: Any = torch._C._functorch


class _Weight(NamedTuple):
    tensor: ref[Any]
    memory: int
    version: int
    shape: Any


class _Given(NamedTuple):
    """What a model was called with, and how many updates had been seen by then."""

    weights: list[_Weight]
    seen: int


class FunctionalWeights:
    """Follows the calls of models under `torch.func.grad` and its relatives; tells updates from other changes."""

    def __init__(self) -> None:
        self._given: WeakKeyDictionary[Any, _Given] = WeakKeyDictionary()
        self._last: _Given | None = None
        self._seen = 0
        self._drops = False
        """The script has replaced weights and dropped the old ones: it trains."""
        self._kept = 0
        """Replacements before that, whose old weights are kept somewhere: updates, or other models of a list."""

    @property
    def has_seen(self) -> bool:
        return self._last is not None

    def updates_before(self, model: Any) -> int | None:
        """How many updates came before this call of a model; None where nothing is new about its weights."""
        if aside.level() is None:
            return None
        with quietly():
            weights = _differentiated(model)
            if not weights:
                return None
            before = self._given.get(model)
            updates = 0 if before is None else self._updates(before, weights)
            self._last = self._given[model] = _Given(weights, self._seen)
            return updates

    def updates_at_end(self) -> int:
        """Whether the weights that gradients were made of last have been updated too."""
        return 0 if self._last is None else self._ended(self._last)

    def _updates(self, before: _Given, weights: list[_Weight]) -> int | None:
        pairs = list(zip(before.weights, weights, strict=False))
        if len(before.weights) != len(weights) or any(old.shape != new.shape for old, new in pairs):
            return self._ended(before)
        moved = [old for old, new in pairs if old.memory != new.memory]
        in_place = any(old.memory == new.memory and old.version != new.version for old, new in pairs)
        if not moved and not in_place:
            return None
        if before.seen != self._seen:  # updated together with a model whose update was counted
            return 0
        self._seen += 1
        if in_place:
            return 1
        if not self._drops and not all(old.tensor() is None for old in moved):
            self._kept += 1
            return 0
        self._drops = True
        updates, self._kept = 1 + self._kept, 0
        return updates

    def _ended(self, given: _Given) -> int:
        if given.seen != self._seen:
            return 0
        alive = [(one, tensor) for one in given.weights if (tensor := one.tensor()) is not None]
        is_updated = any(one.version != tensor._version for one, tensor in alive) or (self._drops and not alive)
        self._seen += is_updated
        return int(is_updated)


def _differentiated(model: Any) -> list[_Weight]:
    """The first weights of a model that a transform makes gradients of."""
    found: list[_Weight] = []
    for weight in model.parameters():
        base = _base(weight)
        if base is not None:
            found.append(_Weight(ref(base), base.data_ptr(), base._version, base.shape))
            if len(found) == _MOST_WEIGHTS:
                break
    return found


def _base(weight: Any) -> Any:
    """The script's own tensor under the wrappers; None where the outermost gradient is of something else.

    Weights that were adapted inside a transform (MAML) came from others there: the outermost gradient is of those.
    """
    is_wanted = False
    while _wrapping.is_functorch_wrapped_tensor(weight):
        if _wrapping.is_gradtrackingtensor(weight):
            is_wanted = weight.is_leaf and weight.requires_grad
        weight = _wrapping.get_unwrapped(weight)
    return weight if is_wanted and type(weight) in _PLAIN else None
