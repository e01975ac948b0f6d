"""Modules and parameters by number: the records that stand for them, in the run and after it."""

from __future__ import annotations

import weakref
from typing import Any

import torch

from stepscope.evidence.modules import Module, Parameter
from stepscope.record import construction
from stepscope.record.sites import place_at
from stepscope.record.watch.names import device_name, dtype_name
from stepscope.record.watch.places import is_own_file

__all__ = ["LiveModule", "LiveParameter", "Nets", "live"]

_PLAIN = (bool, int, float, str, type(None))
_MOST = 60
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
    """What a record stands for, for observers; None when it is gone."""
    return record.live if isinstance(record, (LiveModule, LiveParameter)) else None


class Nets:
    """`run.nets`: every module that was called or holds what an optimizer has, and every parameter."""

    def __init__(self) -> None:
        self.modules: list[LiveModule] = []
        self.parameters: list[LiveParameter] = []
        self._modules: dict[int, LiveModule] = {}
        self._parameters: dict[int, LiveParameter] = {}

    def of(self, module: Any) -> LiveModule:
        """The record of a module."""
        known = self._modules.get(id(module))
        return known if known is not None and known.live is module else self._meet(module)

    def parameter(self, tensor: Any) -> LiveParameter:
        """The record of a parameter."""
        known = self._parameters.get(id(tensor))
        return known if known is not None and known.live is tensor else self._meet_parameter(tensor)

    def _meet(self, module: Any) -> LiveModule:
        kinds = tuple(base.__name__ for base in type(module).__mro__[:-1])
        record = LiveModule(len(self.modules), type(module).__name__, kinds)
        record._ref = weakref.ref(module)
        record.training = bool(module.training)
        record.attributes = _settings(module)
        record.classes = {base.__name__: file for base in type(module).__mro__ if (file := _own_file(base)) is not None}
        spot = construction._places.get(module)
        record.made = None if spot is None else place_at(*spot)
        self.modules.append(record)
        self._modules[id(module)] = record
        return record

    def _meet_parameter(self, tensor: Any) -> LiveParameter:
        shape = () if torch.nn.parameter.is_lazy(tensor) else tuple(tensor.shape)
        record = LiveParameter(len(self.parameters), "", shape, dtype_name(tensor.dtype), device_name(tensor.device))
        record._ref = weakref.ref(tensor)
        record.requires_grad = bool(tensor.requires_grad)
        self.parameters.append(record)
        self._parameters[id(tensor)] = record
        return record


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


def _own_file(base: type) -> str | None:
    """The file of a class, where it is the user's own."""
    codes = (getattr(member, "__code__", None) for member in vars(base).values())
    path = next((code.co_filename for code in codes if code is not None), None)
    return path if path is not None and is_own_file(path) else None
