"""Modules and parameters of the script's models, by number, as they were last seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.evidence.registry import record
from stepscope.records.dtypes import is_floating
from stepscope.records.place import Place

__all__ = ["Module", "Parameter"]


@record
class Parameter:
    """A parameter, or a buffer that was trained on: what it is, and what became of it."""

    __slots__ = (
        "__weakref__", "alive", "backwards", "changed", "device", "dtype", "gradients", "has_grad", "name", "number",
        "requires_grad", "shape",
    )  # fmt: skip

    def __init__(self, number: int, name: str, shape: tuple[int, ...], dtype: str, device: str) -> None:
        self.number = number
        self.name = name
        """Its shortest name in a root module; "" for a loose tensor."""
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self.requires_grad = True
        self.alive = True
        self.has_grad = False
        self.backwards = 0
        """In how many backwards it was looked at."""
        self.gradients = 0
        """In how many of those it had a gradient other than zero."""
        self.changed: bool | None = None
        """Whether anything has written to it since it was first looked at; None: not looked at."""

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
        """How a sentence calls it."""
        return self.name or "a tensor of shape " + "x".join(map(str, self.shape))

    def __repr__(self) -> str:
        return f"Parameter({self.title})"


@record
class Module:
    """A module: its class, where it was made, its settings and its parts."""

    __slots__ = (
        "__weakref__", "alive", "attributes", "buffers", "children", "classes", "hidden", "kinds", "loaded", "made",
        "number", "own", "path", "training", "type",
    )  # fmt: skip

    def __init__(self, number: int, type: str, kinds: tuple[str, ...]) -> None:
        self.number = number
        self.type = type
        """The name of its class."""
        self.kinds = kinds
        """The names of its class and those it is derived from."""
        self.path = ""
        """Inside its root module; "" for the root itself."""
        self.classes: dict[str, str] = {}
        """Of its classes those of the user's own, with their files."""
        self.made: Place | None = None
        self.attributes: dict[str, Any] = {}
        """Its plain settings: `p`, `eps`, `num_features`, `batch_first` ..."""
        self.children: dict[str, Module] = {}
        self.own: dict[str, Parameter] = {}
        """The parameters it holds itself."""
        self.buffers: dict[str, Parameter] = {}
        self.hidden: dict[str, list[Module | Parameter]] = {}
        """What it keeps in plain lists, tuples, sets and dicts, where torch does not look."""
        self.training = True
        self.loaded = False
        """The script has loaded weights into it."""
        self.alive = True

    def is_a(self, *kinds: str) -> bool:
        """Whether its class is one of these, or derived from one: `is_a("_BatchNorm")`."""
        return any(kind in self.kinds for kind in kinds)

    def modules(self) -> Iterator[Module]:
        """This one and all inside it, each once."""
        return (module for _, module in self.named_modules())

    def named_modules(self, prefix: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Module]]:
        """(path from here, module), as torch lists them."""
        seen = set() if seen is None else seen
        if self.number in seen:
            return
        seen.add(self.number)
        yield prefix, self
        for name, child in self.children.items():
            yield from child.named_modules(f"{prefix}.{name}" if prefix else name, seen)

    def parameters(self) -> Iterator[Parameter]:
        return (parameter for _, parameter in self.named_parameters())

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """(name from here, parameter), each once."""
        seen: set[int] = set()
        for path, module in self.named_modules():
            for name, parameter in module.own.items():
                if parameter.number not in seen:
                    seen.add(parameter.number)
                    yield f"{path}.{name}" if path else name, parameter

    def holder_of(self, parameter: Parameter) -> Module | None:
        """The module inside that holds it."""
        return next((part for part in self.modules() if parameter in part.own.values()), None)

    def __repr__(self) -> str:
        return f"Module({self.path or self.type})"
