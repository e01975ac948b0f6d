"""Settings, records and other nested values without their secrets."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from stepscope.track.secrets.known import hides, learn
from stepscope.track.secrets.names import is_secret_name
from stepscope.track.secrets.text import MASK, mask_text
from stepscope.track.secrets.values import is_secret_value

Record = TypeVar("Record", bound=msgspec.Struct)


def mask_value(name: str, value: Any) -> Any:
    """The value as it may be written: masked whole under a secret name, else only its secret parts. Numbers stay.

    >>> mask_value("hf_token", "hf_abcdefghijklmnop"), mask_value("pad_token", "<pad>"), mask_value("token", 3)
    ('***', '<pad>', 3)
    >>> mask_value("dsn", "host=db password=hunter2")
    'host=db password=***'
    """
    if isinstance(value, bytes | bytearray):
        value = bytes(value).decode("utf-8", "replace")
    if not isinstance(value, str):
        return value
    if hides(name, value):
        learn(value)
        return MASK
    return mask_text(value)


def mask_nested(name: str, value: Any) -> Any:
    """Lists, dicts and records by their inner keys. More lenient than for settings: `{"token": "<pad>"}` stays."""
    if isinstance(value, str):
        if is_secret_value(name, value, is_secret_name(name), "quoted"):
            learn(value, in_passing=True)
            return MASK
        return mask_text(value)
    if isinstance(value, list | tuple):
        items = [mask_nested(name, each) for each in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: mask_nested(str(key), each) for key, each in value.items()}
    return mask_record(value) if isinstance(value, msgspec.Struct) else value


def mask_record(record: Record) -> Record:
    """A record of a run as it may be written; the same object if there is nothing to mask."""
    changed = {}
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if value and isinstance(value, str | list | tuple | dict | msgspec.Struct):
            shown = mask_nested("", value)
            if shown != value:
                changed[name] = shown
    return msgspec.structs.replace(record, **changed) if changed else record
