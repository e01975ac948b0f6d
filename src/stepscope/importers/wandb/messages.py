"""W&B's records as plain values: the parts of `wandb_internal.proto` that describe a run.

Only the fields in use are named here. Versions differ in how they write a value: older ones as JSON text, newer
ones (0.28 on) may use a field per type.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import msgspec

from stepscope.eventfiles.wire import Pairs, pairs, signed, zigzag

KINDS = {
    2: "history",
    3: "summary",
    5: "config",
    6: "files",
    7: "stats",
    8: "artifact",
    10: "alert",
    12: "metric",
    13: "output",
    4: "output",
    17: "run",
    18: "exit",
    21: "header",
    23: "preempting",
    26: "environment",
}
"""The fields of `Record` that contain events."""

Path = tuple[str, ...]


def kind_and_body(record: bytes) -> tuple[str | None, bytes]:
    """The kind of a record and its message; None for irrelevant ones."""
    for number, value in pairs(record):
        kind = KINDS.get(number)
        if kind is not None and isinstance(value, bytes):
            return kind, value
    return None, b""


def message(data: bytes, names: dict[int, str]) -> dict[str, Any]:
    """The named fields of a message; for a repeated one the last. Text is decoded, other bytes stay bytes."""
    found: dict[str, Any] = {}
    for number, value in pairs(data):
        name = names.get(number)
        if name is None:
            continue
        if name.endswith("*"):
            found.setdefault(name[:-1], []).append(value)
        else:
            found[name] = value
    return found


def text(value: Any) -> str:
    """A string field; damaged UTF-8 stays visible."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else ""


def stamp(data: Any) -> float | None:
    """A `Timestamp` as unix seconds."""
    if not isinstance(data, bytes):
        return None
    found = {number: value for number, value in pairs(data) if isinstance(value, int)}
    return signed(found.get(1, 0)) + found.get(2, 0) * 1e-9


def items(body: bytes, number: int = 1) -> Iterator[tuple[Path, Any]]:
    """The keys and values of a history, summary, config or stats message; a key is a path of nested names."""
    for field, item in pairs(body):
        if field == number and isinstance(item, bytes):
            yield _item(pairs(item))


def _item(parts: Pairs) -> tuple[Path, Any]:
    key: Path = ()
    nested: list[str] = []
    value: Any = None
    for number, part in parts:
        if number == 2:
            nested.append(text(part))
        elif number == 1:
            key = (text(part),)
        elif isinstance(part, bytes):
            if number == 16 or number == 8:
                value = _json(part)
            elif number == 6:
                value = struct.unpack("<d", part)[0]
            elif number == 7:
                value = text(part)
        elif number == 4:
            value = bool(part)
        elif number == 5:
            value = zigzag(part)
    return tuple(nested) or key, value


_SPECIAL = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_decode = msgspec.json.Decoder().decode


def _json(data: bytes) -> Any:
    """A JSON value; bare or quoted NaN and infinities are numbers, anything but JSON stays text."""
    if data[:1] in b"0123456789-NI" and data:
        number = number_of(data)
        if number is not None:
            return number
    try:
        value = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _loosely(data)
    return _SPECIAL.get(value, value) if isinstance(value, str) else value


def number_of(data: bytes) -> int | float | None:
    """A JSON number exactly: integers as int, whatever their length.

    >>> number_of(b"1152921504606846977"), number_of(b"1e3"), number_of(b"NaN")
    (1152921504606846977, 1000.0, nan)
    """
    try:
        return int(data) if data.lstrip(b"-").isdigit() else float(data)
    except ValueError:
        return None


def _loosely(data: bytes) -> Any:
    """JSON with NaN inside, which the strict parser rejects."""
    import json

    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return text(data)
