"""Rows of a W&B history: numbers become points, values with a `_type` become media, text stays text.

Names in nested dicts are joined with a dot, as W&B shows them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from stepscope.errors import BadData
from stepscope.eventfiles.wire import pairs, signed
from stepscope.importers.columns import Gathered, as_step
from stepscope.importers.foreign import Thing
from stepscope.importers.things import things_of
from stepscope.importers.wandb.facts import nested
from stepscope.importers.wandb.media import Shelf
from stepscope.importers.wandb.messages import items
from stepscope.track.media import Text

_OWN = ("_step", "_timestamp", "_runtime", "_wandb")


class History:
    """Reads row by row; remembers the last step, its time, and each series' last value."""

    def __init__(self, shelf: Shelf, points: Gathered, created: float) -> None:
        self._shelf = shelf
        self._points = points
        self.step = 0
        self.time = created
        self.last: dict[str, Any] = {}
        self.lost: list[str] = []

    def row(self, body: bytes) -> Iterator[Thing]:
        """Add one row: its numbers become points, its media are returned."""
        found = list(items(body))
        self._place(body, found)
        typed = {path[:-1] for path, value in found if path and path[-1] == "_type" and isinstance(value, str)}
        loose = []
        for path, value in found:
            if not path or path[0] in _OWN:
                continue
            if (typed and any(path[: len(head)] == head for head in typed)) or isinstance(value, (dict, list, str)):
                loose.append((path, value))
            elif value is not None:
                self._number(".".join(path), value)
        for name, value in nested(loose).items():
            yield from self._other(name, value)

    def _place(self, body: bytes, row: list[tuple[tuple[str, ...], Any]]) -> None:
        step: Any = None
        for path, value in row:
            if path == ("_step",):
                step = value
            elif path == ("_timestamp",) and isinstance(value, (int, float)) and value == value:
                self.time = float(value)
        if step is None:
            step = next((_step_of(value) for number, value in pairs(body) if number == 2), None)
        number = as_step(step)
        self.step = self.step if number is None else number

    def _number(self, name: str, value: Any) -> None:
        self._points.add(name, self.step, self.time, value)
        self.last[name] = value

    def _other(self, name: str, value: Any) -> Iterator[Thing]:
        """A non-number: by its type, or recursively."""
        if isinstance(value, dict) and "_type" not in value:
            for inner, each in value.items():
                yield from self._other(f"{name}.{inner}", each)
        elif isinstance(value, (int, float)):
            self._number(name, value)
        elif isinstance(value, dict):
            yield from self._media(name, value)
        elif isinstance(value, (str, list)) and value != []:
            self.last[name] = value
            words = value if isinstance(value, str) else json.dumps(value)
            yield from things_of(Text(words), name, self.step, self.time)

    def _media(self, name: str, value: dict[str, Any]) -> Iterator[Thing]:
        self.last[name] = value
        try:
            yield from self._shelf.things(name, value, self.step, self.time)
        except BadData as fault:
            self.lost.append(str(fault))


def _step_of(value: Any) -> int:
    """`HistoryStep`: a message with one number, omitted if it is 0."""
    found = dict(pairs(value)) if isinstance(value, bytes) else {}
    number = found.get(1, 0)
    return signed(number) if isinstance(number, int) else 0
