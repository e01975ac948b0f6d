"""The `args` of many events at once: a msgspec type is made for what each category's events are seen to have."""

from __future__ import annotations

import json
import re
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from stepscope.profile.trace.events import Ints
from stepscope.profile.trace.wheel_columns import MISSING, NO_RAW, NO_TEXT, Arguments, spaced

_NO_INT = -(1 << 63)
_UNKNOWN = re.compile(r"unknown field `(.*)` - at `", re.DOTALL)
_MISFIT = re.compile(r" - at `\$\[\d+\]\.(.*)`$", re.DOTALL)
_MOST_FIELDS = 200
"""An event of torch has a dozen arguments. A category with more than this is taken event by event."""
_ODD_KEY = re.compile(r'["\\\x00-\x1f]')
"""A key that msgspec has no field for."""
_TYPES: dict[str, tuple[Any, Any]] = {
    "int": (int | None, _NO_INT),
    "float": (float | None, np.nan),
    "str": (str, NO_TEXT),
    "raw": (msgspec.Raw, NO_RAW),
}
_FAST = {("int", "int"): "int", ("int", "float"): "float", ("float", "float"): "float", ("str", "text"): "str"}
"""By what a value is in the trace and what its column holds. All others come as raw JSON."""


class ArgsOfCategory:
    """Reads the arguments of one category's events into columns, learning on the way what they have."""

    def __init__(self, columns: Arguments) -> None:
        self.columns = columns
        self.ways: dict[str, str] = {}
        """Each argument: int, float, str, raw (anything but a string into a text column) or any."""
        self.fresh: list[tuple[str, Ints, Any]] = []
        """Arguments that have no column yet: whoever reads all categories decides by the first in the file."""
        self._decoder: Any = None
        self._values: Any = None

    def take(self, rows: Ints, raws: list[Any]) -> None:
        """The arguments of these rows; `raws` is the JSON of each."""
        found = self._decoded(raws)
        if found is None:
            for row, raw in zip(rows.tolist(), raws, strict=True):
                self._take_one(row, bytes(raw))
            return
        if not self.ways:
            return
        several = len(self.ways) > 1  # attrgetter of one name gives no tuple
        columns = zip(*map(self._values, found), strict=True) if several else [list(map(self._values, found))]
        for (key, way), values in zip(self.ways.items(), columns, strict=True):
            self._put(key, way, rows, values)

    def _decoded(self, raws: list[Any]) -> list[Any] | None:
        """As objects of our type, which grows by what it does not know yet; None when one is not a JSON object."""
        joined = b"[" + b",".join(raws) + b"]"
        while True:
            if self._decoder is None:
                self._make()
            try:
                found: list[Any] = self._decoder.decode(joined)
            except msgspec.ValidationError as fault:
                if not self._learn(str(fault), raws):
                    return None
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                return None
            else:
                return found

    def _learn(self, fault: str, raws: list[Any]) -> bool:
        unknown = _UNKNOWN.search(fault)
        if unknown is not None:
            for raw in raws:  # all that the first event with it has; the next ones rarely have more
                try:
                    args = msgspec.json.decode(raw)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    return False
                if isinstance(args, dict) and unknown[1] in args and not any(map(_ODD_KEY.search, args)):
                    if len(self.ways) + len(args) > _MOST_FIELDS:
                        return False
                    fresh = {key: self._way(key, value) for key, value in args.items() if key not in self.ways}
                    self.ways.update(fresh)
                    self._decoder = None
                    return bool(fresh)
            return False
        misfit = _MISFIT.search(fault)
        if misfit is None or self.ways.get(misfit[1], "any") == "any":
            return False
        self.ways[misfit[1]] = "any"
        self._decoder = None
        return True

    def _way(self, key: str, value: Any) -> str:
        kind = self.columns.kind_of(key)
        if kind is None:
            return "any"  # its kind is that of its first value; once that is there, this is learned again
        if kind == "text" and not isinstance(value, str):
            return "raw"
        seen = {int: "int", float: "float", str: "str", type(None): "int"}.get(type(value), "")
        return _FAST.get((seen, kind), "any")

    def _make(self) -> None:
        fields, names = [], {}
        for number, (key, way) in enumerate(self.ways.items()):
            kind, default = _TYPES["raw" if way == "any" else way]
            fields.append((f"f{number}", kind, default))
            names[f"f{number}"] = key
        made: Any = msgspec.defstruct("Args", fields, rename=names, forbid_unknown_fields=True, gc=False)
        self._decoder = msgspec.json.Decoder(list[made])
        self._values = attrgetter(*names) if names else None

    def _put(self, key: str, way: str, rows: Ints, values: Any) -> None:
        columns = self.columns
        if way == "int":
            self._put_ints(key, rows, values)
        elif way == "float":
            self._put_floats(key, rows, values)
        elif way == "any" and columns.kind_of(key) is None:
            self.fresh.append((key, rows, values))
        elif way == "any":
            columns.put_raw(rows.tolist(), key, values)
        else:
            texts = map(columns.texts.__getitem__, values)
            raws = map(columns.raw_texts.__getitem__, map(bytes, values))
            found = np.fromiter(texts if way == "str" else raws, np.uint32, len(values))
            has = found != MISSING
            columns.put(key, "text", rows[has], found[has])

    def _put_ints(self, key: str, rows: Ints, values: Any) -> None:
        try:
            found = np.fromiter(values, np.int64, len(values))
        except TypeError:  # a null, which a number column leaves out
            found = np.array([_NO_INT if value is None else value for value in values], np.int64)
        except OverflowError:
            for row, value in zip(rows.tolist(), values, strict=True):
                if value != _NO_INT:
                    self.columns.put_one(row, key, value, lambda value=value: str(value))  # type: ignore[misc]
            return
        has = found != _NO_INT
        self.columns.put(key, "int", rows[has], found[has])

    def _put_floats(self, key: str, rows: Ints, values: Any) -> None:
        nulls = (
            [row for row, value in zip(rows.tolist(), values, strict=True) if value is None] if None in values else []
        )
        values = [np.nan if value is None else value for value in values] if nulls else values
        found = np.fromiter(values, np.float64, len(values))
        has = ~np.isnan(found)
        self.columns.put(key, "float", rows[has], found[has])
        for row in nulls:
            self.columns.put_one(row, key, None, lambda: "null")

    def settle(self, key: str, value: Any) -> None:
        """An argument that was new has a column now: take it the fast way from here on."""
        way = self._way(key, value)
        if way != self.ways.get(key):
            self.ways[key] = way
            self._decoder = None

    def _take_one(self, row: int, raw: bytes) -> None:
        try:
            args = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            args = None
        if args is not None:
            for key, value in args.items():
                text = bytes(value)
                self.columns.put_one(row, key, json.loads(text), lambda text=text: spaced(text))  # type: ignore[misc]
            return
        found = json.loads(raw)
        if isinstance(found, dict):
            for key, value in found.items():
                self.columns.put_one(row, key, value, lambda value=value: json.dumps(value))  # type: ignore[misc]
