"""Graphs in event files: `GraphDef`, and the `RunMetadata` in which TensorFlow stores traced ones."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from stepscope.errors import BadData
from stepscope.eventfiles.tensors import decode_tensor
from stepscope.eventfiles.wire import FIXED32, LENGTH, VARINT, fields, signed, text_of, varints

_TYPES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string", 8: "complex64", 9: "int64",
    10: "bool", 14: "bfloat16", 18: "complex128", 19: "float16", 20: "resource", 21: "variant", 22: "uint32",
    23: "uint64",
}  # fmt: skip
_REFERENCE = 100
"""Added to the type of a reference to a variable."""
_SMALL_TENSOR = 64
_SHORT = 200


@dataclass
class Node:
    """One node of a graph."""

    name: str = ""
    op: str = ""
    inputs: list[str] = field(default_factory=list)
    """`node`, `node:1` for its second output, `^node` for a control dependency."""
    device: str = ""
    shapes: list[list[int]] = field(default_factory=list)
    """Of its outputs, if known; -1 is an unknown size."""
    attributes: dict[str, Any] = field(default_factory=dict)
    """Numbers, texts, names of types, shapes and lists of them; large values are omitted."""


@dataclass
class Function:
    """A named part of a graph, which nodes call."""

    arguments: list[str] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    """Their inputs are `argument`, or `node:output:0` with the name of the output."""
    results: list[str] = field(default_factory=list)
    """Its outputs, each named like a node's input."""


def graph_nodes(graph: bytes | memoryview) -> Iterator[Node]:
    """The nodes of a `GraphDef`, in order."""
    for number, data in _messages(graph):
        if number == 1:
            yield _node(data)


def graph_functions(graph: bytes | memoryview) -> dict[str, Function]:
    """The functions that come with a `GraphDef`, by name."""
    found = {}
    for number, library in _messages(graph):
        for inner, part in _messages(library) if number == 2 else ():
            if inner == 1:
                name, function = _function(part)
                found[name] = function
    return found


def _function(data: memoryview) -> tuple[str, Function]:
    name, function = "", Function()
    outputs: list[str] = []
    returned: dict[str, str] = {}
    for number, part in _messages(data):
        if number == 1:
            for inner, one in _messages(part):
                if inner == 1:
                    name = text_of(one)
                elif inner in (2, 3):
                    (function.arguments if inner == 2 else outputs).append(_first_text(one))
        elif number == 3:
            function.nodes.append(_node(part))
        elif number == 4:
            texts = {inner: text_of(one) for inner, one in _messages(part)}
            returned[texts.get(1, "")] = texts.get(2, "")
    function.results = [returned.get(output, "") for output in outputs]
    return name, function


def _node(data: memoryview) -> Node:
    node = Node()
    for inner, part in _messages(data):
        if inner == 1:
            node.name = text_of(part)
        elif inner == 2:
            node.op = text_of(part)
        elif inner == 3:
            node.inputs.append(text_of(part))
        elif inner == 4:
            node.device = text_of(part)
        elif inner == 5:
            key, value = _attribute(part)
            if key == "_output_shapes":
                node.shapes = [shape for shape in _list(value) if isinstance(shape, list)]
            elif not key.startswith("_"):
                node.attributes[key] = _value(value)
    return node


def traced_graphs(metadata: bytes) -> Iterator[memoryview]:
    """The graphs of functions in a `RunMetadata`, each before TensorFlow optimized it."""
    for number, part in _messages(metadata):
        if number == 4:
            yield from (graph for inner, graph in _messages(part) if inner == 2)


def _attribute(data: memoryview) -> tuple[str, memoryview]:
    key, value = "", memoryview(b"")
    for number, part in _messages(data):
        if number == 1:
            key = text_of(part)
        elif number == 2:
            value = part
    return key, value


def _value(data: memoryview) -> Any:
    """An `AttrValue`; None for those that do not fit on one line."""
    for number, wire, value in fields(data):
        if number == 1 and not isinstance(value, int):
            return _list(data)
        return _one(number, wire, value)
    return None


def _list(data: memoryview) -> list[Any]:
    found: list[Any] = []
    for outer, listed in _messages(data):
        if outer != 1:
            continue
        for number, wire, value in fields(listed):
            if wire == LENGTH and number in (3, 5, 6) and not isinstance(value, int):  # packed
                found += [_one(number, VARINT, int(one)) for one in varints(value)]
            elif wire == LENGTH and number == 4 and not isinstance(value, int):
                found += [one for (one,) in struct.iter_unpack("<f", value[: len(value) // 4 * 4])]
            else:
                found.append(_one(number, wire, value))
    return found


def _one(number: int, wire: int, value: int | memoryview) -> Any:
    if isinstance(value, int):
        if number == 6:
            return _TYPES.get(value % _REFERENCE, f"type {value}")
        return bool(value) if number == 5 else signed(value) if number == 3 else None
    if number == 2:
        return text_of(value)[:_SHORT]
    if number == 4 and wire == FIXED32:
        return float(struct.unpack("<f", value)[0])
    if number == 7:
        return _shape(value)
    if number == 8:
        return _tensor(value)
    if number == 10:
        return _first_text(value)[:_SHORT]
    return None


def _first_text(data: memoryview) -> str:
    """The name of a message that has its name first: functions, arguments."""
    return next((text_of(name) for inner, name in _messages(data) if inner == 1), "")


def _shape(data: memoryview) -> list[int]:
    """dim(2) of size(1); a shape of unknown rank has no sizes."""
    return [
        sum(signed(size) for n, _, size in fields(dim) if n == 1 and isinstance(size, int))
        for number, dim in _messages(data)
        if number == 2
    ]


def _tensor(data: memoryview) -> Any:
    """The numbers of a small constant."""
    if len(data) > 16 * _SMALL_TENSOR:
        return None
    try:
        tensor = decode_tensor(data)
    except BadData:
        return None
    return tensor.tolist() if tensor.size <= _SMALL_TENSOR and tensor.dtype != object else None


def _messages(data: bytes | memoryview) -> Iterator[tuple[int, memoryview]]:
    """The fields that hold bytes."""
    for number, wire, value in fields(data):
        if wire == LENGTH and not isinstance(value, int):
            yield number, value
