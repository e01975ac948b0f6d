r"""Events whose JSON is invalid, read all the same.

torch writes names as they are: `record_function('epoch "1"')` gives `"name": "epoch "1""`, and on Windows a path its
backslashes. A string here ends at the quote behind which the event can go on: with a comma and the next key, or a
closing bracket.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_WINDOW = 1 << 20
"""An event is looked for in as many bytes."""
_TRIES = 24
_DEEPEST = 40
_END = re.compile(rb'\}(?=\s*(?:,\s*\{\s*"|\]))')
_KEY = re.compile(r'\s*"([^"\\]*(?:\\.[^"\\]*)*)"\s*:\s*', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}\"{\[]+")
_AFTER_IN_OBJECT = re.compile(r'"(?=\s*(?:\}|,\s*"[^"\\]*(?:\\.[^"\\]*)*"\s*:))', re.DOTALL)
_AFTER_IN_LIST = re.compile(r'"(?=\s*(?:\]|,\s*["\[{\d\-tfn]))')
_NO_NUMBERS = {"nan", "-nan", "inf", "-inf", "NaN", "Infinity", "-Infinity"}


class Repaired(NamedTuple):
    event: dict[str, Any] | None
    """None: what stood there could not be read."""
    end: int
    """Where to go on."""


class _Hopeless(Exception):
    """This text is not an event either way."""


def repair_event(data: bytes, at: int, final: bool) -> Repaired | None:
    """The event at `at`, which is not valid JSON. None when the piece ends too soon to tell.

    >>> repair_event(b'{"ph": "X", "name": "a "b" c", "ts": 1}]', 0, True).event
    {'ph': 'X', 'name': 'a "b" c', 'ts': 1}
    """
    limit = min(len(data), at + _WINDOW)
    ends = [found.end() for _, found in zip(range(_TRIES), _END.finditer(data, at, limit), strict=False)]
    if final and limit == len(data) and len(ends) < _TRIES:
        last = data.rfind(b"}", at) + 1
        ends += [last] if last > at and last not in ends else []
    for end in ends:
        try:
            text = data[at:end].decode("utf-8", "replace")
            event, behind = _object(text, 0, 0)
        except _Hopeless:
            continue
        if behind == len(text):
            return Repaired(event, end)
    if not ends and not final and limit - at < _WINDOW:
        return None
    return Repaired(None, ends[0] if ends else limit)


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    if depth > _DEEPEST or text[at : at + 1] != "{":
        raise _Hopeless
    found: dict[str, Any] = {}
    at = _behind_blanks(text, at + 1)
    while text[at : at + 1] != "}":
        key = _KEY.match(text, at)
        if key is None:
            raise _Hopeless
        found[_unescaped(key[1])], at = _value(text, key.end(), depth, _AFTER_IN_OBJECT)
        at = _behind_blanks(text, at)
        if text[at : at + 1] == ",":
            at = _behind_blanks(text, at + 1)
        elif text[at : at + 1] != "}":
            raise _Hopeless
    return found, at + 1


def _list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    if depth > _DEEPEST:
        raise _Hopeless
    found: list[Any] = []
    at = _behind_blanks(text, at + 1)
    while text[at : at + 1] != "]":
        value, at = _value(text, at, depth, _AFTER_IN_LIST)
        found.append(value)
        at = _behind_blanks(text, at)
        if text[at : at + 1] == ",":
            at = _behind_blanks(text, at + 1)
        elif text[at : at + 1] != "]":
            raise _Hopeless
    return found, at + 1


def _value(text: str, at: int, depth: int, string_end: re.Pattern[str]) -> tuple[Any, int]:
    first = text[at : at + 1]
    if first == "{":
        return _object(text, at, depth + 1)
    if first == "[":
        return _list(text, at, depth + 1)
    if first == '"':
        close = string_end.search(text, at + 1)
        if close is None:
            raise _Hopeless
        return _unescaped(text[at + 1 : close.start()]), close.end()
    scalar = _SCALAR.match(text, at)
    if scalar is None:
        raise _Hopeless
    if scalar[0] in _NO_NUMBERS:
        return None, scalar.end()
    try:
        return json.loads(scalar[0]), scalar.end()
    except ValueError:
        raise _Hopeless from None


def _behind_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in {" ", "\n", "\r", "\t"}:
        at += 1
    return at


def _unescaped(body: str) -> str:
    """What a string says: by its escapes if they are valid, else as it stands."""
    try:
        found = json.loads('"' + re.sub(r'(?<!\\)((?:\\\\)*)"', r"\1\\" + '"', body) + '"', strict=False)
    except ValueError:
        return body
    return str(found)
