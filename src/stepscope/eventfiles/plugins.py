"""The messages of TensorBoard's plugins: hyperparameters, meshes, chart layouts."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from stepscope.eventfiles.wire import FIXED64, LENGTH, VARINT, fields, text_of


@dataclass
class HParams:
    """One record of the hparams plugin: an experiment's metrics, the start of a session, or its end."""

    values: dict[str, Any] = field(default_factory=dict)
    """The session's hyperparameters."""
    metrics: list[str] = field(default_factory=list)
    description: str = ""
    group: str = ""
    """Sessions of one group repeat the same hyperparameters."""
    status: int | None = None
    """How the session ended: 1 success, 2 failure, 3 running."""


def decode_hparams(content: bytes) -> HParams:
    found = HParams()
    for number, part in _messages(content):
        if number == 2:
            _add_experiment(found, part)
        elif number == 3:
            _add_session_start(found, part)
        elif number == 4:
            numbers = [value for n, _, value in fields(part) if n == 1 and isinstance(value, int)]
            found.status = numbers[-1] if numbers else 0
    return found


def _add_experiment(found: HParams, data: memoryview) -> None:
    for number, part in _messages(data):
        if number == 1:
            found.description = text_of(part)
        elif number == 5:
            found.metrics.extend(_metric_tags(part))


def _metric_tags(data: memoryview) -> Iterator[str]:
    for number, name in _messages(data):
        if number == 1:
            yield from (text_of(tag) for inner, tag in _messages(name) if inner == 2)


def _add_session_start(found: HParams, data: memoryview) -> None:
    for number, part in _messages(data):
        if number == 1:
            key, value = _entry(part)
            found.values[key] = value
        elif number == 4:
            found.group = text_of(part)


def _entry(data: memoryview) -> tuple[str, Any]:
    key, value = "", None
    for number, part in _messages(data):
        if number == 1:
            key = text_of(part)
        elif number == 2:
            value = _plain(part)
    return key, value


def _plain(data: memoryview, depth: int = 0) -> Any:
    """A `google.protobuf.Value`: whole numbers are returned as ints, as originally given."""
    for number, wire, value in fields(data):
        if number == 4 and wire == VARINT:
            return bool(value)
        if number == 2 and wire == FIXED64 and not isinstance(value, int):
            return _number(value)
        if isinstance(value, int):
            continue
        if number == 3:
            return text_of(value)
        if number == 6 and depth < 8:
            return [_plain(one, depth + 1) for n, one in _messages(value) if n == 1]
    return None


def _number(data: memoryview) -> int | float:
    real = float(struct.unpack("<d", data)[0])
    return int(real) if real.is_integer() and abs(real) < 2**53 else real


@dataclass(frozen=True)
class MeshPart:
    """Which mesh a tensor belongs to, and which part of it."""

    name: str
    part: str
    """vertices, faces, colors or unknown"""
    components: int
    """A bit for each part of the mesh: 2 vertices, 4 faces, 8 colors."""
    config: str


_PARTS = {1: "vertices", 2: "faces", 3: "colors"}


def decode_mesh(content: bytes) -> MeshPart:
    name = config = ""
    part = components = 0
    for number, _, value in fields(content):
        if number == 2 and not isinstance(value, int):
            name = text_of(value)
        elif number == 5 and not isinstance(value, int):
            config = text_of(value)
        elif number == 3 and isinstance(value, int):
            part = value
        elif number == 7 and isinstance(value, int):
            components = value
    return MeshPart(name, _PARTS.get(part, "unknown"), components, config)


def decode_layout(content: bytes) -> dict[str, dict[str, list[Any]]]:
    """A layout of custom scalars, in the form `add_custom_scalars` takes: {category: {chart: [kind, tags]}}."""
    layout: dict[str, dict[str, list[Any]]] = {}
    for number, category in _messages(content):
        if number != 2:
            continue
        title, charts = "", {}
        for inner, part in _messages(category):
            if inner == 1:
                title = text_of(part)
            elif inner == 2:
                name, chart = _chart(part)
                charts[name] = chart
        layout[title] = charts
    return layout


def _chart(data: memoryview) -> tuple[str, list[Any]]:
    title, kind, tags = "", "Multiline", []
    for number, part in _messages(data):
        if number == 1:
            title = text_of(part)
        elif number == 2:
            tags = [text_of(tag) for n, tag in _messages(part) if n == 1]
        elif number == 3:
            kind = "Margin"
            tags = [text_of(tag) for n, series in _messages(part) if n == 1 for _, tag in _messages(series)]
    return title, [kind, tags]


def _messages(data: bytes | memoryview) -> Iterator[tuple[int, memoryview]]:
    """The fields that hold bytes."""
    for number, wire, value in fields(data):
        if wire == LENGTH and not isinstance(value, int):
            yield number, value
