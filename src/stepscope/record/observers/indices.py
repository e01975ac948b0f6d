"""Numbers that a device would stop for: looked at before they reach it.

A GPU that meets an id beyond a table stops with "device-side assert triggered", names no line, is noticed some ops
later, and answers nothing more: not even the ids can be read then. So while ops are followed, the few that can stop
a device are looked at before they run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.indices import Indices, OutOfRange
from stepscope.record.observers.fetch import here, is_held, patience
from stepscope.record.observers.observer import Observer
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.record.observers.tensor_history import Call

_LATE = frozenset({"cuda", "xpu", "mps", "privateuseone"})
"""Devices that report such a fault late, and are lost with it."""
_LABELS = frozenset({"cross_entropy", "nll_loss", "multi_margin_loss"})
_ROWS = frozenset({"gather", "index_select"})
_IGNORE = {"cross_entropy": 4, "nll_loss": 4}


class IndexObserver(Observer, Indices):
    before_ops: ClassVar[frozenset[str]] = _LABELS | _ROWS | {"embedding", "embedding_bag", "binary_cross_entropy"}

    def __init__(self, watcher: Any) -> None:
        Indices.__init__(self)
        super().__init__(watcher)

    def before_op(self, call: Call) -> None:
        if self.broken is not None or len(call.inputs) < 2 or not _can_look(call.inputs[0], call.inputs[1]):
            return
        with quietly():
            if call.name in _LABELS:
                self._labels(call)
            elif call.name == "binary_cross_entropy":
                self._probabilities(call)
            elif call.name in _ROWS:
                self._rows(call)
            else:
                self._ids(call)

    def _ids(self, call: Call) -> None:
        if not call.inputs[0].is_floating_point():
            self._within(call, 0, int(call.inputs[1].shape[0]), "ids")

    def _rows(self, call: Call) -> None:
        """gather(x, dim, index) and index_select(x, dim, index)"""
        dim, index = call.argument(1, "dim"), call.inputs[1]
        if isinstance(dim, int) and not index.is_floating_point() and call.inputs[0].dim():
            self._within(call, 1, int(call.inputs[0].shape[dim]), "index")

    def _within(self, call: Call, place: int, size: int, which: str) -> None:
        low, high = _range(call.inputs[place])
        if low < 0 or high >= size:
            self._note(call, (low, high), size, which, place)

    def _labels(self, call: Call) -> None:
        scores, labels = call.inputs[0], call.inputs[1]
        if labels.is_floating_point() or scores.dim() == 0:
            return
        classes = int(scores.shape[1 if scores.dim() > 1 else 0])
        ignored = call.argument(_IGNORE[call.name], "ignore_index", -100) if call.name in _IGNORE else None
        counted = labels if ignored is None else labels[labels != ignored]
        if counted.numel():
            low, high = _range(counted)
            if low < 0 or high >= classes:
                self._note(call, (low, high), classes, "labels", 1)

    def _probabilities(self, call: Call) -> None:
        for place, which in ((0, "input"), (1, "target")):
            low, high = _range(call.inputs[place])
            if not (low >= 0 and high <= 1):  # NaN stops it too
                self._note(call, (low, high), 1, which, place)
                return

    def _note(self, call: Call, span: tuple[float, float], size: int, which: str, place: int) -> None:
        patience.lost = True
        other = call.origins[1 - place] if len(call.origins) > 1 else None
        self.broken = OutOfRange(
            call.name, span[0], span[1], size, which, call.origins[place], other, call.place, call.visit
        )


def _can_look(*tensors: Any) -> bool:
    first = tensors[0]
    if first.device.type not in _LATE or any(not one.numel() or is_transformed(one) for one in tensors):
        return False
    return not is_held(first.device.type)


def _range(tensor: Any) -> tuple[float, float]:
    low, high = raw.tolist(here(raw.stack(raw.aminmax(raw.detach(tensor)))))
    return low, high
