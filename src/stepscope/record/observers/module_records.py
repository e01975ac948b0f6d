"""The records of modules and parameters, in the run and after it."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import torch

from stepscope.evidence.modules import Hidden, LooseTensor, Module, Parameter
from stepscope.record import construction
from stepscope.record.observers.names import device_name, dtype_name
from stepscope.record.observers.own_frames import is_own_file
from stepscope.record.sites import place_at

_PLAIN = (bool, int, float, str, type(None))
_MOST = 60
_MOST_PARTS = 1000
_TORCHS = frozenset(vars(torch.nn.Module()))


class LiveParameter(Parameter):
    """A parameter that may still be there."""

    __slots__ = ("_ref",)
    _ref: weakref.ref[Any]

    @property
    def live(self) -> Any:
        """The parameter itself; None when it is gone."""
        return self._ref()


class LiveModule(Module):
    """A module that may still be there."""

    __slots__ = ("_ref",)
    _ref: weakref.ref[Any]

    @property
    def live(self) -> Any:
        """The module itself; None when it is gone."""
        return self._ref()


def live(record: Module | Parameter | None) -> Any:
    """The object of a record, for observers; None when it is gone."""
    return record.live if isinstance(record, (LiveModule, LiveParameter)) else None


class ModuleRecords:
    """One record for each module and parameter that a fact points at; they go when the facts go."""

    def __init__(self) -> None:
        self._modules: weakref.WeakValueDictionary[int, LiveModule] = weakref.WeakValueDictionary()
        self._parameters: weakref.WeakValueDictionary[int, LiveParameter] = weakref.WeakValueDictionary()
        self._met = 0

    def of(self, module: Any) -> LiveModule:
        """The record of a module."""
        known = self._modules.get(id(module))
        return known if known is not None and known.live is module else self._meet(module)

    def parameter(self, tensor: Any) -> LiveParameter:
        """The record of a parameter."""
        known = self._parameters.get(id(tensor))
        return known if known is not None and known.live is tensor else self._meet_parameter(tensor)

    def alive(self) -> list[tuple[LiveModule, Any]]:
        """Every record of a module that is still there, and the module."""
        found = ((record, record.live) for record in list(self._modules.values()))
        return [(record, module) for record, module in found if module is not None]

    def parameters_alive(self) -> list[tuple[LiveParameter, Any]]:
        """The same of parameters; those that are gone are marked."""
        found = []
        for record in list(self._parameters.values()):
            tensor = record.live
            record.alive = tensor is not None
            if tensor is not None:
                found.append((record, tensor))
        return found

    def _meet(self, module: Any) -> LiveModule:
        kinds, is_torchs, classes = _about(type(module))
        record = LiveModule(self._met, kinds)
        self._met += 1
        record._ref = weakref.ref(module)
        record.training = bool(module.training)
        record.is_torchs, record.classes = is_torchs, classes
        record.attributes = _settings(module)
        spot = construction._places.get(module)
        record.made = None if spot is None else place_at(*spot)
        self._modules[id(module)] = record
        return record

    def _meet_parameter(self, tensor: Any) -> LiveParameter:
        record = LiveParameter(self._met, _shape(tensor), dtype_name(tensor.dtype), device_name(tensor.device))
        self._met += 1
        record._ref = weakref.ref(tensor)
        record.requires_grad = bool(tensor.requires_grad)
        self._parameters[id(tensor)] = record
        return record

    # How things stand now

    def refresh(self, record: Module, module: Any, origin_of: Any) -> None:
        """Read a module's settings and parts again; those below it have records from now on."""
        record.training = bool(module.training)
        record.attributes = _settings(module)
        record.children = {name: self.of(part) for name, part in module._modules.items() if part is not None}
        own = {name: self.parameter(p) for name, p in module._parameters.items() if p is not None}
        record.own = dict(own)
        record.buffers = {name: self.parameter(b) for name, b in module._buffers.items() if b is not None}
        record.hidden = {name: hidden for name, value in vars(module).items() if (hidden := self._hidden(name, value))}
        record.tensors = {} if record.is_torchs else self._loose(module, origin_of)

    def refresh_parameter(self, record: Parameter, tensor: Any) -> None:
        record.requires_grad = bool(tensor.requires_grad)
        record.shape = _shape(tensor)
        record.dtype, record.device = dtype_name(tensor.dtype), device_name(tensor.device)
        record.has_grad = tensor.is_leaf and tensor.grad is not None
        record.version = tensor._version

    def _hidden(self, name: str, value: Any) -> Hidden | None:
        if name in _TORCHS or not isinstance(value, (list, tuple, set, dict)):
            return None
        parts: list[Module | Parameter] = []
        for part in _inside(value):
            parts.append(self.parameter(part) if isinstance(part, torch.nn.Parameter) else self.of(part))
        return Hidden(type(value).__name__, parts) if parts else None

    def _loose(self, module: Any, origin_of: Any) -> dict[str, LooseTensor]:
        """What torch puts into its own modules, as FSDP does, is its own affair."""
        found: dict[str, LooseTensor] = {}
        for name, value in vars(module).items():
            if type(value) is torch.Tensor and value.is_floating_point():
                loose = LooseTensor(self.parameter(value), origin_of(value))
                loose.requires_grad, loose.is_leaf = bool(value.requires_grad), value.grad_fn is None
                loose.has_grad = value.is_leaf and value.grad is not None
                loose.version = value._version
                found[name] = loose
        return found


def _shape(tensor: Any) -> tuple[int, ...]:
    return () if torch.nn.parameter.is_lazy(tensor) else tuple(tensor.shape)


def _inside(value: Any, depth: int = 0) -> Iterator[Any]:
    items = list(value.values()) if isinstance(value, dict) else list(value)
    for item in items[:_MOST_PARTS]:
        if isinstance(item, (torch.nn.Module, torch.nn.Parameter)):
            yield item
        elif depth < 2 and isinstance(item, (list, tuple, set, dict)):
            yield from _inside(item, depth + 1)


def _settings(module: Any) -> dict[str, Any]:
    """What of a module's attributes is plain: numbers, words, and short sequences of them."""
    found: dict[str, Any] = {}
    for name, value in vars(module).items():
        if name in _TORCHS or len(found) >= _MOST:
            continue
        if isinstance(value, _PLAIN):
            found[name] = value
        elif type(value) in (tuple, list) and len(value) <= 8 and all(isinstance(one, _PLAIN) for one in value):
            found[name] = tuple(value)
    return found


_About = tuple[tuple[str, ...], bool, dict[str, str]]
_known: weakref.WeakKeyDictionary[type, _About] = weakref.WeakKeyDictionary()


def _about(kind: type) -> _About:
    """The names of its classes, whether it is one of torch's own, and the user's own among them with their files."""
    found = _known.get(kind)
    if found is None:
        own = {base.__name__: file for base in kind.__mro__ if (file := _own_file(base)) is not None}
        names = tuple(base.__name__ for base in kind.__mro__[:-1])
        found = _known[kind] = (names, kind.__module__.startswith("torch."), own)
    return found


def _own_file(base: type) -> str | None:
    """The file of a class, where it is the user's own."""
    codes = (getattr(member, "__code__", None) for member in vars(base).values())
    path = next((code.co_filename for code in codes if code is not None), None)
    return path if path is not None and is_own_file(path) else None
