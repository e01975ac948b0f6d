"""Looks whether a nearest neighbor is the sample itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from stepscope.common.ops import ELEMENTWISE, RESHAPES
from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.retrievals import Retrieval, Retrievals
from stepscope.record.observers.fetch import here
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.value_sample import can_look

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

__all__ = ["RetrievalObserver"]

_PICKS = frozenset({"argmin", "argmax", "min", "max", "topk", "argsort", "sort"})
_PRODUCTS = frozenset({"matmul", "mm", "cdist", "einsum", "cosine_similarity"})
_FEWEST, _LARGEST = 8, 2**22
_KEPT, _LOOKS, _HELD = 20, 6, 8
_SHARE = 0.98


class RetrievalObserver(Observer, Retrievals):
    ops: ClassVar[frozenset[str]] = _PICKS | {"getitem", "eq", "gather", "index_select"}

    def __init__(self, watcher: Watcher) -> None:
        Retrievals.__init__(self)
        super().__init__(watcher)
        self._picked: list[tuple[Origin, Retrieval]] = []

    def op(self, call: Call) -> None:
        if call.name in _PICKS:
            self._pick(call)
        elif self._picked:
            self._use(call)

    def _pick(self, call: Call) -> None:
        matrix = call.inputs[0] if call.inputs else None
        if matrix is None or matrix.dim() != 2 or matrix.shape[0] != matrix.shape[1] or call.place is None:
            return
        if matrix.shape[0] < _FEWEST or matrix.numel() > _LARGEST or not matrix.is_floating_point():
            return
        picked = next((one for one in call.outputs if not one.is_floating_point() and one.dim()), None)
        if picked is None or not can_look(picked):
            return
        product = _own_product(call.origins[0])
        made = self.watcher.tensor_history.known(picked)
        found = next((one for one in self.all if one.place is call.place), None)
        if product is None or made is None or (found is not None and found.looks >= _LOOKS):
            return
        if found is None:
            if len(self.all) >= _KEPT:
                return
            found = Retrieval(call.place, call.name, matrix.shape[0], product.place)
            self.all.append(found)
        found.looks += 1
        with quietly():
            if _is_itself(here(picked)):
                found.itself += 1
                self._picked = [*self._picked[-_HELD:], (made, found)]

    def _use(self, call: Call) -> None:
        """The picked rows are compared, or labels are looked up with them; a first column that is cut off is not."""
        for tensor, origin in zip(call.inputs, call.origins, strict=False):
            source = origin
            while source.op in RESHAPES | {"getitem", "select"} and source.inputs:
                source = source.inputs[0]
            found = next((one for made, one in self._picked if made is source), None)
            if found is None or (call.name == "getitem" and tensor is call.inputs[0]):
                continue
            if not tensor.is_floating_point() and tensor.dim() and can_look(tensor):
                with quietly():
                    found.used += _is_itself(here(tensor))


def _is_itself(picked: Any) -> bool:
    """Whether the first pick of (nearly) every row is the row."""
    first = picked if picked.dim() == 1 else picked.reshape(picked.shape[0], -1)[:, 0]
    return bool(raw.item(raw.mean(raw.float(first == raw.arange(first.shape[0])))) >= _SHARE)


def _own_product(origin: Origin) -> Origin | None:
    """The product (or distance) of a set of vectors with itself that a matrix was made of, by scaling at most."""
    for _ in range(12):
        if origin.op in _PRODUCTS and len(origin.inputs) == 2:
            first, second = (part.back_through(RESHAPES) for part in origin.inputs)
            return origin if first is second else None
        if origin.op not in RESHAPES | ELEMENTWISE or not origin.inputs:
            return None
        origin = origin.inputs[0]
    return None
