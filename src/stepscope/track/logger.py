"""From `log({...})` to a row in the file: names are resolved once, values take the fastest path.

A *plan* is built for each set of names: their flat form, the keyset in the file, and one converter per value. A
repeated call with the same names and types is then one dictionary lookup and one write.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from stepscope import fence
from stepscope.common import clocks
from stepscope.track.cuda_copies import is_capturing
from stepscope.track.gpu import DeviceQueue, Row
from stepscope.track.steps import INT64_MAX, INT64_MIN, StepRefused, as_step
from stepscope.track.values import EXACT, Converter, DeviceScalar, NotScalar, Refused, converter, flat

MAX_PLANS = 10_000
"""Beyond this many plans, the script generates new names in every call; caching plans would only fill the memory."""
MAX_RIVALS = 32
"""How many sets with one name are remembered to detect whether it was logged at the current step."""


class Keyset(Protocol):
    @property
    def write(self) -> Callable[..., None]: ...


class Sink(Protocol):
    """Where a logger's rows and media go."""

    def keyset(self, names: tuple[str, ...]) -> Keyset: ...

    def wide(self, step: int, values: Mapping[str, Any], at: float | None) -> None: ...

    def media(self, values: Mapping[str, Any], step: int, when: float) -> None: ...

    def refused(self, name: str, kind: str, reason: str) -> None: ...

    def lost(self, count: int, reason: str) -> None: ...


class _Plan:
    """The plan of one set of names."""

    __slots__ = ("converters", "integers", "is_plain", "keyset", "last_step", "names", "rivals", "seen_plans", "types")

    def __init__(self, names: tuple[str, ...], keyset: Keyset) -> None:
        self.names = names
        self.keyset = keyset
        self.last_step: int | None = None
        self.rivals: tuple[_Plan, ...] = ()
        """Other sets that share a name with this one, as of `seen_plans` sets in all."""
        self.seen_plans = 0
        self.types: tuple[type, ...] = ()
        self.is_plain = False
        """All values are Python numbers, which need no conversion."""
        self.integers: list[int] = []
        """Positions of the integers: they may not fit a float64."""
        self.converters: list[Converter] = []

    def adapt(self, types: tuple[type, ...], known: dict[type, Converter]) -> None:
        """Prepare for values of these types: the last call's are the best guess for the next."""
        for kind in set(types):
            if kind not in known:
                known[kind] = converter(kind)
        self.converters = [known[kind] for kind in types]
        self.is_plain = all(kind in (float, int, bool) for kind in types)
        self.integers = [place for place, kind in enumerate(types) if kind is int]
        self.types = types


class Logger:
    """The rows of one run: determines steps, converts values, writes. `log` never raises."""

    def __init__(self, sink: Sink, first_step: int = 0) -> None:
        self.step = first_step
        self.is_open = True
        self._sink = sink
        self._plans: dict[tuple[Any, ...], _Plan] = {}
        self._with_name: dict[str, deque[_Plan]] = {}
        self._known: dict[type, Converter] = {}
        self._lock = threading.Lock()
        self._device = DeviceQueue(sink.lost)

    def log(self, values: Mapping[Any, Any], step: Any = None) -> None:
        try:
            plan = self._plans.get(tuple(values))
            if plan is not None and (type(step) is int or step is None):
                row = tuple(values.values())
                if tuple(map(type, row)) == plan.types:
                    if not plan.is_plain or (plan.integers and _too_large(row, plan.integers)):
                        return self._write(plan, self._take_step(plan, step), row)
                    if step is None:
                        step = self._next_step(plan)
                    elif INT64_MIN <= step <= INT64_MAX:
                        self.step = plan.last_step = step
                    else:
                        return self._log_any(values, step)
                    plan.keyset.write(step, row)
                    return None
            return self._log_any(values, step)
        except StepRefused as reason:
            self._sink.refused("step", type(step).__name__, str(reason))
        except Exception as fault:
            if isinstance(values, Mapping):
                fence.report("log()", fault)
            else:
                self._sink.refused("log", type(values).__name__, 'log() takes a dict: run.log({"loss": loss})')

    def _next_step(self, plan: _Plan) -> int:
        with self._lock:
            if plan.last_step == self.step or any(one.last_step == self.step for one in self._rivals(plan)):
                self.step += 1
            plan.last_step = self.step
            return self.step

    def _rivals(self, plan: _Plan) -> tuple[_Plan, ...]:
        """The other sets with one of its names: for example `{"loss", "val"}` now and then beside `{"loss"}` in every
        step.
        """
        if plan.seen_plans != len(self._plans):
            sharing = {id(one): one for name in plan.names for one in self._with_name.get(name, ()) if one is not plan}
            plan.rivals, plan.seen_plans = tuple(sharing.values()), len(self._plans)
        return plan.rivals

    def _take_step(self, plan: _Plan, step: Any) -> int:
        if step is None:
            return self._next_step(plan)
        number = as_step(step)
        self.step = plan.last_step = number
        return number

    def _log_any(self, values: Mapping[Any, Any], step: Any) -> None:
        """The slow path: everything but plain floats under known names."""
        if not isinstance(values, Mapping):
            raise TypeError
        if not self.is_open:
            return self._sink.refused("log", "after finish()", "the run is finished; open another with init()")
        flattened = flat(values)
        if not flattened:
            return None
        plan = self._plan(tuple(flattened))
        return self._write(plan, self._take_step(plan, step), tuple(flattened.values()))

    def _plan(self, names: tuple[str, ...]) -> _Plan:
        plan = self._plans.get(names)
        if plan is None:
            plan = _Plan(names, self._sink.keyset(names))
            if len(self._plans) < MAX_PLANS:
                self._plans[names] = plan
                for name in names:
                    self._with_name.setdefault(name, deque(maxlen=MAX_RIVALS)).append(plan)
        return plan

    def _write(self, plan: _Plan, step: int, values: tuple[Any, ...]) -> None:
        types = tuple(map(type, values))
        if types != plan.types:
            plan.adapt(types, self._known)
        try:
            row = [convert(value) for convert, value in zip(plan.converters, values, strict=True)]
        except (NotScalar, Refused, RuntimeError, TypeError, ValueError, OverflowError):
            self._write_parts(plan, step, values)
            return
        self._write_row(plan, step, row)

    def _write_row(self, plan: _Plan, step: int, row: list[Any]) -> None:
        if DeviceScalar in map(type, row):
            if is_capturing():
                reason = "inside a CUDA graph capture a value has no number yet; log it after replay()"
                self._sink.refused(plan.names[0], "Tensor", reason)
                return
            self._device.add(Row(partial(self._emit, plan), step, clocks.monotonic(), row, self._device.room))
        else:
            self._emit(plan, step, row)

    def _emit(self, plan: _Plan, step: int, row: Sequence[Any], at: float | None = None) -> None:
        if _too_large(row, range(len(row))):
            self._sink.wide(step, dict(zip(plan.names, row, strict=True)), at)
        else:
            plan.keyset.write(step, row, at)

    def _write_parts(self, plan: _Plan, step: int, values: tuple[Any, ...]) -> None:
        """A call with non-numbers: numbers become a row, media their records, the rest is rejected by name."""
        numbers: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for name, convert, value in zip(plan.names, plan.converters, values, strict=True):
            try:
                numbers[name] = convert(value)
            except NotScalar:
                others[name] = value
            except (Refused, RuntimeError, TypeError, ValueError, OverflowError) as reason:
                self._sink.refused(name, type(value).__name__, str(reason))
        if others:
            self._sink.media(others, step, clocks.time())
        if numbers:
            part = self._plan(tuple(numbers))
            part.last_step = step
            self._write_row(part, step, list(numbers.values()))

    def rewind(self, step: Any) -> None:
        """Continue from `step`, as if nothing had been logged at or after it."""
        self.step = as_step(step)
        for plan in self._plans.values():
            plan.last_step = None

    def flush(self, timeout_s: float = 10.0) -> None:
        """Wait for values that are still on a device."""
        self._device.drain(timeout_s)

    def close(self) -> None:
        self._device.close()
        self.is_open = False
        self._plans.clear()  # so that a later call takes the slow path and gets the message

    def after_fork(self) -> None:
        """In a child: locks may be held by threads that do not exist here, and device values belong to the parent."""
        self._lock = threading.Lock()
        self._device = DeviceQueue(self._sink.lost)


def _too_large(row: Sequence[Any], places: Iterable[int]) -> bool:
    """Whether there is an integer that does not fit a float64."""
    for place in places:
        value = row[place]
        if isinstance(value, int) and not -EXACT <= value <= EXACT:
            return True
    return False
