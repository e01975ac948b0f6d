"""Follows arithmetic of the user's own code in which one value for each row meets something of another shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.common.ops import CASTS, COMPARISONS, REDUCTIONS
from stepscope.evidence.broadcasts import Broadcast, Broadcasts
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_KEPT = 40
_TWO_SIDED = frozenset({"add", "sub", "rsub", "mul", "div", "eq", "ne"}) | COMPARISONS
_AFTER = REDUCTIONS | CASTS | {"abs", "pow", "square"}
_OPEN = 64


class BroadcastObserver(Observer, Broadcasts):
    ops = _TWO_SIDED | _AFTER

    def __init__(self, watcher: Watcher) -> None:
        Broadcasts.__init__(self)
        super().__init__(watcher)
        self._places: dict[tuple[Place, str], Broadcast] = {}
        self._results: dict[int, tuple[Origin, Broadcast]] = {}
        """Of what came of them, by the result's origin."""

    def op(self, call: Call) -> None:
        self._follow(call)
        if len(call.origins) != 2 or call.name not in _TWO_SIDED or not call.is_users or call.place is None:
            return
        kind = _kind(call.origins[0].shape, call.origins[1].shape)
        if not kind or not call.outputs:
            return
        known = self._places.get((call.place, kind))
        if known is None:
            if len(self.all) >= _KEPT:
                return
            known = self._places[(call.place, kind)] = Broadcast(call.place, call.name, *call.origins, kind)
            self.all.append(known)
        known.count += 1
        self._expect(call, known)

    def _expect(self, call: Call, broadcast: Broadcast) -> None:
        origin = self.watcher.tensor_history.known(call.outputs[0])
        if origin is not None:
            self._results[id(origin)] = (origin, broadcast)
            if len(self._results) > _OPEN:
                del self._results[next(iter(self._results))]

    def _follow(self, call: Call) -> None:
        """What becomes of a result: another elementwise step, or one number."""
        for origin in call.origins:
            found = self._results.get(id(origin))
            if found is None:
                continue
            found[1].used = True
            if call.name in REDUCTIONS and call.outputs and not call.outputs[0].shape:
                found[1].reduced = True
            elif call.name in _AFTER and call.outputs:
                self._expect(call, found[1])


def _kind(first: tuple[int, ...], second: tuple[int, ...]) -> str:
    long, short = (first, second) if len(first) > len(second) else (second, first)
    if len(long) != 2 or len(short) != 1 or short[0] < 2 or long[0] != short[0]:
        return ""
    return "table" if long[1] == 1 else "square" if long[1] == long[0] else ""
