"""The role of each node of a TensorBoard graph in a drawing: an op, an external tensor, or an argument.

PyTorch's `add_graph` and TensorFlow name things differently; both are handled here.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from stepscope.eventfiles.graphs import Node

Role = Literal["op", "input", "output", "parameter", "buffer", "constant", "list"]

_INPUTS = {"Placeholder", "PlaceholderWithDefault", "_Arg", "_DeviceArg"}
_OUTPUTS = {"_Retval", "_DeviceRetval"}
_VARIABLES = {"VarHandleOp", "VariableV2", "Variable"}
_CONSTANTS = {"prim::Constant", "Const", "HostConst"}
_LISTS = {"prim::ListConstruct", "prim::TupleConstruct"}
_BUFFERS = {"running_mean", "running_var", "num_batches_tracked"}
_MODULE = re.compile(r"^([^\[\]]+)\[(.+)\]$")
_VALUE = re.compile(r"value\s*:\s*(.*?)\s*\}?$", re.DOTALL)
_TYPE_KEYS = ("dtype", "DstT", "T", "Tout", "output_type", "out_type")
_SAID_ELSEWHERE = {*_TYPE_KEYS, "attr", "shape", "value", "SrcT", "Tidx", "Tshape", "N", "index", "container"}
_DEEPEST = 32
_SMALL = 64


@dataclass
class Scope:
    """The module (or name scope) of a node."""

    parts: list[tuple[str, str]] = field(default_factory=list)
    """The name and, if known, the class of each module from the outermost on."""
    root: str = ""
    """The class of the model, which has no name."""


def role_of(node: Node) -> Role:
    if node.op == "IO Node":
        return "output" if node.inputs else "input"
    if node.op in _INPUTS:
        return "parameter" if dtype_of(node) == "resource" else "input"  # TensorFlow passes variables like inputs
    if node.op in _OUTPUTS:
        return "output"
    if node.op in _LISTS:
        return "list"
    if node.op in _CONSTANTS:
        large = node.attributes.get("value") is None and math.prod(shape_of(node)) > _SMALL
        return "parameter" if large else "constant"  # weights of a frozen graph
    if node.op == "prim::GetAttr":
        return "buffer" if attribute_name(node) in _BUFFERS else "parameter"
    return "parameter" if node.op in _VARIABLES else "op"


def scope_of(node: Node) -> Scope:
    """`Net/Sequential[body]/Linear[0]/12` lies in `body.0` of a `Net`."""
    segments = node.name.split("/")[:-1]
    is_torch = node.op.startswith(("prim::", "aten::")) or any(map(_MODULE.match, segments))
    if node.op == "prim::GetAttr":
        segments = segments[:-1]  # the name of the weight
    scope = Scope()
    for place, segment in enumerate(segments[:_DEEPEST]):
        module = _MODULE.match(segment)
        if module is not None:
            scope.parts.append((module[2], module[1].rpartition("::")[2]))
        elif is_torch and place == 0:
            scope.root = segment
        elif segment:
            scope.parts.append((segment, ""))
    return scope


def attribute_name(node: Node) -> str:
    """The weight that a `prim::GetAttr` reads."""
    return node.name.split("/")[-2] if "/" in node.name else node.name


def constant_of(node: Node) -> Any:
    """The value of a constant, as JSON; None if it is uninformative."""
    text = node.attributes.get("attr")
    if not isinstance(text, str):
        return node.attributes.get("value")
    found = _VALUE.search(text)
    if found is None or not found[1]:
        return None
    try:
        return json.loads(found[1])
    except ValueError:
        return found[1]


def arguments_of(node: Node) -> dict[str, Any]:
    """The attributes of a TensorFlow node: strides, padding, axes."""
    return {name: value for name, value in node.attributes.items() if name not in _SAID_ELSEWHERE and value is not None}


def shape_of(node: Node, output: int = 0) -> list[int]:
    """The sizes of an output; [-1] if unknown."""
    if output < len(node.shapes):
        return node.shapes[output]
    shape = node.attributes.get("shape")
    return shape if isinstance(shape, list) and all(isinstance(size, int) for size in shape) else [-1]


def dtype_of(node: Node) -> str:
    for key in _TYPE_KEYS:
        found = node.attributes.get(key)
        if isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, str):
            return found
    return ""
