"""The right-hand side of a comparison: numbers, durations, dates, booleans, text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal as OneOf

from stepscope.runs.query.lexer import Token

_UNITS = {"ms": 1e-3, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_DATE_FORMS = (
    ("%Y-%m-%dT%H:%M:%S", timedelta(seconds=1)),
    ("%Y-%m-%dT%H:%M", timedelta(minutes=1)),
    ("%Y-%m-%d", timedelta(days=1)),
)


@dataclass(frozen=True)
class Literal:
    """A value to compare with. `text` is the original, for fields that turn out to hold text."""

    kind: OneOf["number", "duration", "date", "bool", "null", "text"]
    text: str
    number: float = 0.0
    """The number; the seconds of a duration; the start of a date; 1 or 0 for true and false."""
    until: float = 0.0
    """The end of a date: `created = 2026-11-01` matches the whole day."""


def literal(token: Token) -> Literal:
    """The value of a name token; anything unrecognized is text."""
    text = token.text
    if any(quoted for _, quoted in token.parts):
        return Literal("text", text)
    lower = text.lower()
    if lower in ("true", "false"):
        return Literal("bool", text, float(lower == "true"))
    if lower in ("null", "none", "missing"):
        return Literal("null", text)
    return _number(text) or _duration(text) or _date(text) or Literal("text", text)


def _number(text: str) -> Literal | None:
    if text.lstrip("+-").lower() not in ("inf", "infinity", "nan") and not text.lstrip("+-.")[:1].isdigit():
        return None
    try:
        return Literal("number", text, int(text))
    except ValueError:
        pass
    try:
        return Literal("number", text, float(text))
    except ValueError:
        return None


def _duration(text: str) -> Literal | None:
    """`90s`, `1h30m`, `2.5d`."""
    seconds = 0.0
    at = 0
    while at < len(text):
        digits = at
        while at < len(text) and (text[at].isdigit() or text[at] == "."):
            at += 1
        letters = at
        while at < len(text) and text[at].isalpha():
            at += 1
        unit = _UNITS.get(text[letters:at].lower())
        if letters == digits or unit is None:
            return None
        try:
            seconds += float(text[digits:letters]) * unit
        except ValueError:
            return None
    return Literal("duration", text, seconds) if text else None


def _date(text: str) -> Literal | None:
    """A day, minute or second, in local time unless it ends in Z."""
    if not text[:4].isdigit() or text[4:5] != "-":
        return None
    utc = text.endswith(("Z", "z"))
    for form, length in _DATE_FORMS:
        try:
            begin = datetime.strptime(text[:-1] + "+0000" if utc else text, form + "%z" if utc else form)
            return Literal("date", text, begin.timestamp(), (begin + length).timestamp())
        except (ValueError, OverflowError, OSError):
            continue
    return None
