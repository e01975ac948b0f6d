"""Nested values as JSON and named tensors, and back. What cannot be said plainly is named as missing, never pickled.

    (x, {"lengths": [3, 4]})   ->   {"$tuple": [{"$tensor": "t0"}, {"$dict": [["lengths", [3, 4]]]}]}

Objects of other classes (a dataclass, a named tuple, a batch that behaves like a dict) are kept as their class's name
and their fields. They are built again only from a class that the replayed script has itself imported.
"""

from __future__ import annotations

import base64
import dataclasses
import math
import re
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import torch

from stepscope.errors import BadData
from stepscope.launch.capsule.tensors import KINDS, memory_order
from stepscope.track.secrets import mask_nested

_DEEPEST = 12
_MOST_ITEMS = 200_000
_LONGEST_TEXT = 1 << 20
_LAST_NAME = re.compile(r"[\w-]+(?=\W{0,2}$)")


class Missing:
    """Stands for a value that the capsule does not hold."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __repr__(self) -> str:
        return f"<missing: {self.what}>"


class Packer:
    """Turns values into JSON; the tensors go to `tensors`, what was left out is named in `missing`."""

    def __init__(self) -> None:
        self.tensors: dict[str, Any] = {}
        self.missing: list[str] = []
        self._names: dict[Any, str] = {}
        self._items = self._count = 0

    def pack(self, value: Any, where: str, depth: int = 0) -> Any:
        self._items += 1
        if depth > _DEEPEST or self._items > _MOST_ITEMS:
            return self._left_out(where, "nested too deep" if depth > _DEEPEST else "too many values")
        if value is None or isinstance(value, (bool, str)):
            return self._text(value[:_LONGEST_TEXT], where) if isinstance(value, str) else value
        if type(value) is int:
            return value if abs(value) < 1 << 53 else {"$int": hex(value)}
        if type(value) is float:
            return value if math.isfinite(value) else {"$float": repr(value)}
        if isinstance(value, torch.Tensor):
            return self._tensor(value, where)
        inner = self._container(value, where, depth + 1)
        return inner if inner is not None else self._other(value, where, depth + 1)

    def _container(self, value: Any, where: str, depth: int) -> Any:
        if type(value) is list:
            return [self.pack(item, f"{where}[{i}]", depth) for i, item in enumerate(value)]
        if type(value) in (tuple, torch.Size):
            return {"$tuple": [self.pack(item, f"{where}[{i}]", depth) for i, item in enumerate(value)]}
        if type(value) is dict:
            pairs = [
                [self.pack(k, f"{where} (a name)", depth), self.pack(v, f"{where}[{k!r}]", depth)]
                for k, v in value.items()
            ]
            return {"$dict": pairs}
        if type(value) in (set, frozenset):
            return {"$set": [self.pack(item, where, depth) for item in value]}
        if isinstance(value, (bytes, bytearray)) and len(value) <= _LONGEST_TEXT:
            return {"$bytes": base64.b64encode(self._bytes(bytes(value), where)).decode()}
        return None

    def _text(self, text: str, where: str) -> str:
        """Without secrets: a capsule is made to be handed on."""
        found = _LAST_NAME.search(where)
        shown: str = mask_nested(found[0] if found else "", text)
        if shown != text:
            self.missing.append(f"{where}: a secret in it is masked")
        return shown

    def _bytes(self, data: bytes, where: str) -> bytes:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return data
        return self._text(text, where).encode()

    def _other(self, value: Any, where: str, depth: int) -> Any:
        if isinstance(value, torch.dtype):
            return {"$dtype": str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"$device": str(value)}
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
            return self._array(numpy, value, where)
        fields = _fields(value)
        if fields is None:
            return self._left_out(where, f"a {type(value).__module__}.{type(value).__qualname__}")
        kind, state = fields
        packed = {str(k): self.pack(v, f"{where}.{k}", depth) for k, v in state.items()}
        return {"$object": f"{type(value).__module__}:{type(value).__qualname__}", "kind": kind, "fields": packed}

    def _array(self, numpy: ModuleType, value: Any, where: str) -> Any:
        try:
            tensor = torch.from_numpy(numpy.array(value))
        except (TypeError, ValueError):
            return self._left_out(where, f"a numpy array of {value.dtype}")
        packed = self._tensor(tensor, where)
        if "$tensor" in packed:
            packed["numpy"] = "array" if isinstance(value, numpy.ndarray) else "scalar"
        return packed

    def _tensor(self, tensor: Any, where: str) -> Any:
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout is not torch.strided:
            return self._left_out(where, f"a {type(tensor).__name__} ({tensor.layout})")
        if tensor.dtype not in KINDS or tensor.is_quantized or tensor.device.type == "meta":
            return self._left_out(where, f"a tensor of {tensor.dtype} on {tensor.device}")
        node: dict[str, Any] = {"$tensor": self._name(tensor)}
        order = memory_order(tensor)
        if order is not None:
            node["order"] = order
        if tensor.device.type != "cpu":
            node["device"] = str(tensor.device)
        if tensor.requires_grad:
            node["grad"] = True
        return node

    def _name(self, tensor: Any) -> str:
        """The same memory seen the same way is kept once: a batch and the model's argument are often one tensor."""
        key = (
            tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride(), str(tensor.device)
        )  # fmt: skip
        if not tensor.numel():
            key = (id(tensor), *key[1:])
        known = self._names.get(key)
        if known is None:
            known = self._names[key] = f"t{self._count}"
            self.tensors[known] = tensor.detach()
            self._count += 1
        return known

    def forget(self, names: set[str]) -> None:
        """Take tensors out again, as if they had never been packed."""
        self.tensors = {name: tensor for name, tensor in self.tensors.items() if name not in names}
        self._names = {key: name for key, name in self._names.items() if name not in names}

    def _left_out(self, where: str, why: str) -> dict[str, str]:
        self.missing.append(f"{where}: {why}")
        return {"$missing": f"{where}: {why}"}


def _fields(value: Any) -> tuple[str, dict[str, Any]] | None:
    """How an object is kept, and its fields; None when there is no plain way."""
    if isinstance(value, type) or callable(value):
        return None
    if dataclasses.is_dataclass(value):
        return "plain", {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if hasattr(value, f.name)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return "namedtuple", dict(zip(value._fields, value, strict=True))
    if isinstance(value, Mapping) and hasattr(value, "data") and isinstance(value.data, dict):
        return "plain", {"data": value.data}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return "dict", dict(value)
    return None


class Unpacker:
    """Turns JSON back into values. `tensor` gives a tensor by name and memory order; `device` says where it goes."""

    def __init__(
        self, tensor: Callable[[str, list[int] | None], Any], device: Callable[[str], str] = lambda name: name
    ) -> None:
        self._tensor_of = tensor
        self._device = device

    def unpack(self, node: Any, depth: int = 0) -> Any:
        if depth > _DEEPEST + 2:
            raise BadData("the capsule nests values deeper than Stepscope writes them; it was changed")
        if node is None or isinstance(node, (bool, int, float, str)):
            return node
        if isinstance(node, list):
            return [self.unpack(item, depth + 1) for item in node]
        if isinstance(node, dict):
            for mark, build in self._builders().items():
                if mark in node:
                    try:
                        return build(node, depth + 1)
                    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as fault:
                        raise BadData(f"the capsule contains a value that cannot be read ({mark}: {fault})") from None
        raise BadData(f"the capsule contains an unknown value: {str(node)[:80]}")

    def _builders(self) -> dict[str, Callable[[Any, int], Any]]:
        return {
            "$tensor": self._tensor,
            "$tuple": lambda node, depth: tuple(self.unpack(item, depth) for item in node["$tuple"]),
            "$dict": lambda node, depth: {self.unpack(k, depth): self.unpack(v, depth) for k, v in node["$dict"]},
            "$set": lambda node, depth: {self.unpack(item, depth) for item in node["$set"]},
            "$bytes": lambda node, _: base64.b64decode(node["$bytes"], validate=True),
            "$int": lambda node, _: int(str(node["$int"]), 16),
            "$float": lambda node, _: float(node["$float"]),
            "$dtype": lambda node, _: _dtype(node["$dtype"]),
            "$device": lambda node, _: torch.device(self._device(str(node["$device"]))),
            "$missing": lambda node, _: Missing(str(node["$missing"])),
            "$object": self._object,
        }

    def _tensor(self, node: Any, depth: int) -> Any:
        found = self._tensor_of(str(node["$tensor"]), node.get("order"))
        if "numpy" in node:
            return found.numpy() if node["numpy"] == "array" else found.numpy()[()]
        found = found.to(self._device(str(node.get("device", "cpu"))))
        return found.requires_grad_() if node.get("grad") and found.is_floating_point() else found

    def _object(self, node: Any, depth: int) -> Any:
        module, _, name = str(node["$object"]).partition(":")
        fields = {key: self.unpack(value, depth) for key, value in node["fields"].items()}
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if not isinstance(found, type):
            return Missing(f"a {module}.{name}, which the script has not imported")
        if node["kind"] == "namedtuple" and issubclass(found, tuple):
            return found._make(fields.values())  # type: ignore[attr-defined]
        if node["kind"] == "dict" and issubclass(found, dict):
            made = dict.__new__(found)
            dict.update(made, fields)
            return made
        made = object.__new__(found)
        made.__dict__.update(fields)
        return made


def _dtype(name: Any) -> torch.dtype:
    found = getattr(torch, str(name), None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"no dtype {name!r}")
    return found
