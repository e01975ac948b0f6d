"""`run.summary`: the last value of everything logged, or as `define_metric` specifies, and values set by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from stepscope.track.media import Loggable
from stepscope.wandb.metrics import Rules
from stepscope.wandb.values import PLAIN, Listed, as_number, settled

_ASK = object()
"""Placeholder for a number that was still on a device when it was logged: it is read from the run on demand."""


class Hand(Protocol):
    """Where values set by hand go."""

    def update(self, other: Any, /) -> None: ...

    def __delitem__(self, name: str, /) -> None: ...


class Tally:
    """Running statistics of a series."""

    def __init__(self) -> None:
        self.first: Any = None
        self.last: Any = None
        self.least = math.inf
        self.most = -math.inf
        self._total = 0.0
        self._count = 0

    def add(self, value: Any) -> None:
        self.last = value
        if not self._count:
            self.first = value
        self._count += 1
        if isinstance(value, int | float) and value == value:
            self.least, self.most = min(self.least, value), max(self.most, value)
            self._total += value

    def get(self, kind: str) -> Any:
        if kind in ("min", "max"):
            found = self.least if kind == "min" else self.most
            return found if math.isfinite(found) else self.last
        if kind == "mean":
            return self._total / self._count if self._count else None
        return self.first if kind == "first" else self.last


class Summary:
    """Summary values of the run: `run.summary["best_acc"] = 0.93`, `run.summary["loss"]`."""

    def __init__(
        self,
        hand: Hand,
        rules: Rules,
        *,
        ask: Callable[[str], Any],
        step: Callable[[], int | None],
        show: Callable[[dict[str, Any]], None],
    ) -> None:
        self.__dict__["_hand"] = hand
        self.__dict__["_show"] = show
        self.__dict__["_rules"] = rules
        self.__dict__["_ask"] = ask
        self.__dict__["_step"] = step
        self.__dict__["_last"] = {}
        self.__dict__["_tallies"] = {}
        self.__dict__["_set"] = {}

    _hand: Hand
    _rules: Rules
    _ask: Callable[[str], Any]
    _step: Callable[[], int | None]
    _show: Callable[[dict[str, Any]], None]
    _last: dict[str, Any]
    _tallies: dict[str, Tally]
    _set: dict[str, Any]

    def logged(self, row: Mapping[str, Any]) -> None:
        """A row was committed: values set by hand under its names are replaced, as in W&B."""
        if self._set:
            for name in [name for name in self._set if name in row]:
                del self._set[name]
                del self._hand[name]
        if PLAIN.issuperset(map(type, row.values())):
            self._last.update(row)
            if self._rules:
                self._tally(row)
            return
        for name, value in row.items():
            self._last[name] = _remembered(value)
        if self._rules:
            self._tally(row)

    def _tally(self, row: Mapping[str, Any]) -> None:
        for name in row:
            rule = self._rules.of(name)
            if rule is not None and rule.summaries and self._last[name] is not _ASK:
                self._tallies.setdefault(name, Tally()).add(self._last[name])

    def update(self, d: Any = (), /, **more: Any) -> None:
        pairs: dict[str, Any] = {**dict(d), **more}
        self._set.update(pairs)
        flat = {name: _plain(value) for name, value in settled(pairs, keep=True).items()}
        self._hand.update({name: value for name, value in flat.items() if not _is_media(value)})
        pictures = {name: value for name, value in flat.items() if _is_media(value)}
        if pictures:
            self._show(pictures)

    def __getitem__(self, name: str) -> Any:
        if name in self._set:
            return self._set[name]
        if name == "_step":
            return self._step()
        if name in self._last:
            return self._logged_value(name)
        inner: dict[str, Any] = {}
        for key in self._last:
            if key.startswith(name + "."):
                *above, last = key[len(name) + 1 :].split(".")
                place = inner
                for part in above:
                    place = place.setdefault(part, {})
                place[last] = self._logged_value(key)
        if inner:
            return inner
        raise KeyError(name)

    def _logged_value(self, name: str) -> Any:
        rule = self._rules.of(name)
        kinds = rule.summaries if rule is not None else ()
        if kinds == ("none",):
            raise KeyError(name)
        wanted = [kind for kind in kinds if kind in ("min", "max", "mean", "last", "first")]
        if wanted and name in self._tallies:
            return {kind: self._tallies[name].get(kind) for kind in wanted}
        value = self._last[name]
        return self._ask(name) if value is _ASK else value

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        if name in self._set:
            del self._set[name]
            del self._hand[name]
        else:
            del self._last[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"wandb.summary has no {name!r}; it has {', '.join(list(self)[:20])}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*(name for name in self._last if self.get(name) is not None), *self._set]))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def keys(self) -> list[str]:
        return list(self)

    def items(self) -> list[tuple[str, Any]]:
        return [(name, self[name]) for name in self]

    def values(self) -> list[Any]:
        return [self[name] for name in self]

    def __repr__(self) -> str:
        return repr(dict(self.items()))


def _remembered(value: Any) -> Any:
    """The summary of a logged value; for media only the kind, as in W&B."""
    if isinstance(value, str):
        return value
    if isinstance(value, Listed):
        return value.values
    if isinstance(value, Loggable | list | tuple):
        first = value[0] if isinstance(value, list | tuple) and value else value
        return {"_type": type(first).__name__.lower()}
    number = as_number(value)
    return _ASK if number is None else number


def _plain(value: Any) -> Any:
    number = as_number(value)
    if number is not None:
        return number
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) in ((), (1,)):
        return item()
    return value.values if isinstance(value, Listed) else value


def _is_media(value: Any) -> bool:
    """An image or a table: a summary cannot contain it, so it is logged at the current step."""
    return isinstance(value, Loggable) or hasattr(type(value), "_stepscope_media_")
