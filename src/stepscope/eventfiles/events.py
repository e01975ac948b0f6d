"""The content of an event file's record: time, step, and one of a few things, mostly a summary of values."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from stepscope.errors import BadData
from stepscope.eventfiles.wire import FIXED32, FIXED64, LENGTH, VARINT, fields, signed, text_of

START = 1
"""`Event.session` when a program started (again): what was logged from its step on is void."""

_double = struct.Struct("<d")
_float = struct.Struct("<f")


@dataclass(frozen=True)
class Metadata:
    """The TensorBoard plugin of a value, with the plugin's own bytes."""

    plugin: str = ""
    content: bytes = b""
    display_name: str = ""
    description: str = ""


@dataclass(frozen=True)
class Value:
    """One value of a summary. `kind` is scalar, histo, image, audio, tensor, old_histogram or none."""

    tag: str
    kind: str = "none"
    data: bytes = b""
    scalar: float = 0.0
    metadata: Metadata | None = None


@dataclass
class Event:
    """One record."""

    time: float = 0.0
    step: int = 0
    values: list[Value] = field(default_factory=list)
    version: str | None = None
    graph: bytes | None = None
    meta_graph: bytes | None = None
    run_metadata: tuple[str, bytes] | None = None
    message: str | None = None
    session: int | None = None


_KINDS = {3: "old_histogram", 4: "image", 5: "histo", 6: "audio", 8: "tensor"}


def decode_event(data: bytes | memoryview) -> Event:
    """The event in a record; `BadData` if it is not one. Fields from a newer TensorBoard are ignored."""
    event = Event()
    for number, kind, value in fields(data):
        if number == 1 and kind == FIXED64:
            event.time = _double.unpack(_raw(value))[0]
        elif number == 2 and kind == VARINT:
            event.step = signed(_number(value))
        elif kind != LENGTH:
            continue
        elif number == 3:
            event.version = text_of(value)
        elif number == 4:
            event.graph = bytes(_raw(value))
        elif number == 5:
            event.values.extend(map(_value, _inner(value, 1, LENGTH)))
        elif number == 6:
            event.message = next(map(text_of, _inner(value, 2, LENGTH)), "")
        elif number == 7:
            event.session = next(map(_number, _inner(value, 1, VARINT)), 0)
        elif number == 8:
            event.run_metadata = _run_metadata(_raw(value))
        elif number == 9:
            event.meta_graph = bytes(_raw(value))
    return event


def _value(data: int | memoryview) -> Value:
    tag = node = ""
    kind, payload, scalar = "none", b"", 0.0
    metadata = None
    for number, wire, value in fields(_raw(data)):
        if number == 2 and wire == FIXED32:
            kind, scalar = "scalar", float(_float.unpack(_raw(value))[0])
        elif wire != LENGTH:
            continue
        elif number == 1:
            tag = text_of(value)
        elif number == 7:
            node = text_of(value)
        elif number in _KINDS:
            kind, payload = _KINDS[number], bytes(_raw(value))
        elif number == 9:
            metadata = _metadata(_raw(value))
    return Value(tag or node, kind, payload, scalar, metadata)


def _metadata(data: memoryview) -> Metadata:
    texts = {2: "", 3: ""}
    plugin, content = "", b""
    for number, wire, value in fields(data):
        if wire != LENGTH:
            continue
        if number == 1:
            for inner, inner_wire, part in fields(_raw(value)):
                if inner_wire == LENGTH and inner == 1:
                    plugin = text_of(part)
                elif inner_wire == LENGTH and inner == 2:
                    content = bytes(_raw(part))
        elif number in texts:
            texts[number] = text_of(value)
    return Metadata(plugin, content, texts[2], texts[3])


def _run_metadata(data: memoryview) -> tuple[str, bytes]:
    tag, content = "", b""
    for number, wire, value in fields(data):
        if wire == LENGTH and number == 1:
            tag = text_of(value)
        elif wire == LENGTH and number == 2:
            content = bytes(_raw(value))
    return tag, content


def _inner(value: int | memoryview, number: int, kind: int) -> Iterator[int | memoryview]:
    """The fields with this number and type in a nested message."""
    return (one for found, wire, one in fields(_raw(value)) if (found, wire) == (number, kind))


def _raw(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise BadData("a number where bytes were expected")
    return value


def _number(value: int | memoryview) -> int:
    if isinstance(value, int):
        return value
    raise BadData("bytes where a number was expected")
