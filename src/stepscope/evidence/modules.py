"""Modules and parameters of the script's models, as last seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stepscope.evidence.registry import record
from stepscope.records.dtypes import is_floating

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place


@record
class Parameter:
    """A parameter, a buffer or a trained tensor: its properties and history."""

    __slots__ = (
        "__weakref__", "alive", "changed", "device", "dtype", "gradients", "has_grad", "name", "number",
        "requires_grad", "shape", "version",
    )  # fmt: skip

    def __init__(self, number: int, shape: tuple[int, ...], dtype: str = "float32", device: str = "cpu") -> None:
        self.number = number
        self.name = ""
        """Its shortest name in a root module; "" for a loose tensor."""
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self.requires_grad = True
        self.alive = True
        self.has_grad = False
        """Whether it currently has a gradient."""
        self.gradients = 0
        """In how many of the first dozen backwards after it was first seen it got a nonzero gradient."""
        self.changed: bool | None = None
        """Whether anything has written to it since it was first checked; None: not checked."""
        self.version = 0
        """How often it was written to."""

    @property
    def size(self) -> int:
        found = 1
        for length in self.shape:
            found *= length
        return found

    @property
    def is_floating(self) -> bool:
        return is_floating(self.dtype)

    @property
    def title(self) -> str:
        """Its name in a sentence."""
        return self.name or "a tensor of shape " + "x".join(map(str, self.shape))

    def __repr__(self) -> str:
        return f"Parameter({self.title})"


@record
class Hidden:
    """What a module stores in a plain list, tuple, set or dict, which torch ignores."""

    __slots__ = ("kind", "parts")

    def __init__(self, kind: str, parts: list[Module | Parameter]) -> None:
        self.kind = kind
        """The type of the container: `list`, `dict`."""
        self.parts = parts


@record
class LooseTensor:
    """A plain floating-point tensor that is an attribute of a module."""

    __slots__ = ("has_grad", "is_leaf", "origin", "requires_grad", "shape", "tensor", "version")

    def __init__(self, tensor: Parameter, origin: Origin | None) -> None:
        self.tensor = tensor
        self.origin = origin
        self.shape = tensor.shape
        self.requires_grad = tensor.requires_grad
        self.has_grad = False
        self.is_leaf = True
        """No operation with gradients produced it."""
        self.version = 0
        """How often it was written to."""


@record
class Module:
    """A module: its class, where it was created, its settings and its children."""

    __slots__ = (
        "__weakref__", "alive", "attributes", "buffers", "called", "children", "classes", "hidden", "is_torchs",
        "kinds", "loaded", "made", "number", "own", "path", "tensors", "training", "type",
    )  # fmt: skip

    def __init__(self, number: int, kinds: tuple[str, ...] = ("Module",)) -> None:
        self.number = number
        self.type = kinds[0]
        """The name of its class."""
        self.kinds = kinds
        """The names of its class and base classes."""
        self.is_torchs = False
        """Its class is one of torch's own."""
        self.path = ""
        """Inside its root module; "" for the root itself."""
        self.classes: dict[str, str] = {}
        """The user's own classes among them, with their files."""
        self.made: Place | None = None
        """Where it was constructed."""
        self.attributes: dict[str, Any] = {}
        """Its plain settings: `p`, `eps`, `num_features`, `batch_first` ..."""
        self.children: dict[str, Module] = {}
        self.own: dict[str, Parameter] = {}
        """The parameters it owns directly."""
        self.buffers: dict[str, Parameter] = {}
        self.hidden: dict[str, Hidden] = {}
        self.tensors: dict[str, LooseTensor] = {}
        self.training = True
        self.loaded = False
        """The script has loaded weights into it: it is no longer as initialized."""
        self.called = False
        """It ran inside a call that was recorded in depth."""
        self.alive = True
        """It, or a part of it, still existed when the rules last ran."""

    def is_a(self, *kinds: str) -> bool:
        """Whether its class is, or inherits from, one of these: `is_a("_BatchNorm")`."""
        return any(kind in self.kinds for kind in kinds)

    def modules(self) -> Iterator[Module]:
        """This module and its descendants, each once."""
        return (module for _, module in self.named_modules())

    def named_modules(self) -> Iterator[tuple[str, Module]]:
        """(path from here, module), each once, as torch lists them."""
        seen: set[int] = set()
        waiting: list[tuple[str, Module]] = [("", self)]
        while waiting:
            path, module = waiting.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            yield path, module
            inner = [(f"{path}.{name}" if path else name, child) for name, child in module.children.items()]
            waiting.extend(reversed(inner))

    def parameters(self) -> Iterator[Parameter]:
        return (parameter for _, parameter in self.named_parameters())

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """(name from here, parameter), each once."""
        seen: set[int] = set()
        for path, module in self.named_modules():
            for name, parameter in module.own.items():
                if id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield f"{path}.{name}" if path else name, parameter

    def part(self, path: str) -> Module | None:
        """The module at a path from here."""
        found: Module | None = self
        for name in path.split(".") if path else ():
            found = None if found is None else found.children.get(name)
        return found

    def __repr__(self) -> str:
        return f"Module({self.path or self.type})"
