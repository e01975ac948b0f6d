"""Sets discounted returns beside the rewards they were made of, in the variables of the script.

Looked at when a list of numbers becomes a tensor, and when backward begins: is there a list of the same length in reach
whose discounted sums these are, from the end, from the beginning, or in the opposite order?
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from stepscope.evidence.return_order import ReturnOrder, ReturnOrders
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import is_own, locals_of, own_place

if TYPE_CHECKING:
    from stepscope.evidence.steps import Backward
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_SHORTEST, _LONGEST = 4, 2000
_FRAMES = 3
_LOOKS = 60
_KEPT = 20
_LISTS = 12


class ReturnOrderObserver(Observer, ReturnOrders):
    ops = frozenset({"tensor", "as_tensor"})

    def __init__(self, watcher: Watcher) -> None:
        ReturnOrders.__init__(self)
        super().__init__(watcher)
        self._looks = 0

    def op(self, call: Call) -> None:
        numbers = _numbers(call.argument(0, "data")) if call.direct and len(call.args) else None
        if numbers is not None and call.place is not None and self._looks < _LOOKS:
            self._looks += 1
            self._compare(call.place, numbers, [other for _, other in _lists(_own_frame())])

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        """Returns that never become a tensor: `for log_prob, value in zip(log_probs, returns)`."""
        frame = _own_frame()
        place = own_place(frame)
        if place is None or self._looks >= _LOOKS:
            return
        self._looks += 1
        lists = list(_lists(frame))[:_LISTS]
        for name, numbers in lists:
            if name != "rewards":
                self._compare(place, numbers, [other for again, other in lists if again != name])

    def _compare(self, place: Place, returns: list[float], candidates: list[list[float]]) -> None:
        for rewards in candidates:
            # of several episodes one after the other, the rewards of the last one may be left
            found = order_of(rewards, returns[-len(rewards) :]) if len(rewards) <= len(returns) else None
            if found is None:
                continue
            order, discount = found
            known = next((one for one in self.all if one.place is place), None)
            if known is None and len(self.all) < _KEPT:
                known = ReturnOrder(place, discount)
                self.all.append(known)
            if known is not None:
                setattr(known, order, getattr(known, order) + 1)
                known.first = returns[:4]
            return


def order_of(rewards: Sequence[float], returns: Sequence[float]) -> tuple[str, float] | None:
    """How returns lie beside rewards, and the discount.

    >>> order_of([1, 0, 0, 2, 1], [1.375, 0.75, 1.5, 2.5, 1.0])
    >>> order_of([1, 0, 0, 2, 1], [1.3125, 0.625, 1.25, 2.5, 1.0])
    ('right', 0.5)
    >>> order_of([1, 0, 0, 2, 1], [1.0, 2.5, 1.25, 0.625, 1.3125])
    ('reversed', 0.5)
    >>> order_of([1, 0, 0, 2, 1], [1.0, 0.5, 0.25, 2.125, 2.0625])
    ('forward', 0.5)
    """
    backwards = list(reversed(rewards))
    for order, seen, sums in (
        ("right", backwards, list(reversed(returns))),
        ("forward", list(rewards), list(returns)),
        ("reversed", backwards, list(returns)),
    ):
        discount = _discount(seen, sums)
        if discount is not None:
            return order, discount
    return None


def _discount(rewards: list[float], sums: list[float]) -> float | None:
    """The discount with which each sum is its reward plus the sum before it."""
    size = max(map(abs, sums))
    if not size or abs(sums[0] - rewards[0]) > 1e-4 * size:
        return None
    pairs = [(before, now - reward) for before, now, reward in zip(sums, sums[1:], rewards[1:], strict=False)]
    weight = sum(before * before for before, _ in pairs)
    if sum(abs(before) > 1e-3 * size for before, _ in pairs) < 2:
        return None
    discount = sum(before * rest for before, rest in pairs) / weight
    if not 0.05 < discount <= 1.0001 or any(abs(rest - discount * before) > 1e-4 * size for before, rest in pairs):
        return None
    return round(discount, 4)


def _own_frame() -> FrameType | None:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and not is_own(frame.f_code):
        frame = frame.f_back
    return frame


def _lists(frame: FrameType | None) -> Iterator[tuple[str, list[float]]]:
    """Lists of numbers among the variables of the script's running functions, and in the objects there."""
    for _ in range(_FRAMES):
        if frame is None:
            return
        if is_own(frame.f_code):
            for name, value in locals_of(frame).items():
                yield from _of(name, value)
        frame = frame.f_back


def _of(name: str, value: Any) -> Iterator[tuple[str, list[float]]]:
    numbers = _numbers(value)
    if numbers is not None:
        yield name, numbers
    elif hasattr(value, "__dict__") and not isinstance(value, type) and type(value).__module__ != "builtins":
        for inner, part in list(vars(value).items())[:40]:
            numbers = _numbers(part)
            if numbers is not None:
                yield inner, numbers


def _numbers(value: Any) -> list[float] | None:
    """A list of plain numbers that is not too short or too long."""
    if type(value) not in (list, tuple, deque) or not _SHORTEST <= len(value) <= _LONGEST:
        return None
    found = list(value)
    return [float(one) for one in found] if all(isinstance(one, (int, float)) for one in found) else None
