"""Records as bytes, whatever values the user put into them.

A config may hold any object, a printed line half a surrogate pair, an integer more than 64 bits: such a value is
stored as text rather than rejected, because losing the whole record would be worse.
"""

from __future__ import annotations

from typing import Any

import msgspec

_encoder = msgspec.msgpack.Encoder(enc_hook=str)


def pack(record: object) -> bytes:
    """A record as msgpack; only a record that contains itself fails (RecursionError)."""
    try:
        return _encoder.encode(record)
    except (UnicodeEncodeError, OverflowError, TypeError, ValueError):
        return _encoder.encode(_plain(msgspec.to_builtins(record, enc_hook=str, builtin_types=(bytes,))))


def clean_text(text: str) -> str:
    r"""The text, with lone surrogates escaped as `\udc80`; all other text is unchanged."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return str(value)
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
