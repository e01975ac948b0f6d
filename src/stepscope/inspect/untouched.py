"""Run somebody's model and restore it: modes, buffers, attributes, gradients, weights, random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from stepscope.record import random_state

if TYPE_CHECKING:
    from torch.optim import Optimizer


def is_lazy(model: Any) -> bool:
    """Whether some parameters get their shape only from the first input."""
    lazy = (torch.nn.parameter.UninitializedParameter, torch.nn.parameter.UninitializedBuffer)
    kinds = {type(one) for module in model.modules() for held in _tensors_of(module) for one in held.values()}
    return any(issubclass(kind, lazy) for kind in kinds)


def _tensors_of(module: Any) -> tuple[Any, Any]:
    return module._parameters, module._buffers


@contextmanager
def left_as_it_was(model: Any, optimizer: Any = None, *, weights: bool = False) -> Iterator[None]:
    """Restore everything at the end, by value and identity; `weights` if they will be written to.

    Gradients are removed meanwhile, so nothing can be added to them.
    """
    modules = [_Module(module) for module in model.modules()]
    parameters = [_Parameter(parameter, weights) for parameter in model.parameters()]
    kept_optimizer = None if optimizer is None else _Optimizer(optimizer)
    numbers = random_state.taken()
    try:
        yield
    finally:
        with torch.no_grad():
            for module in modules:
                module.put_back()
            for parameter in parameters:
                parameter.put_back()
            if kept_optimizer is not None:
                kept_optimizer.put_back()
        random_state.put_back(numbers)


@contextmanager
def layers_in_full() -> Iterator[None]:
    """Make torch's transformer layers run one by one: in evaluation mode a fused kernel hides them."""
    backend = getattr(torch.backends, "mha", None)
    switch = getattr(backend, "set_fastpath_enabled", None)
    if backend is None or switch is None:
        yield
        return
    before = backend.get_fastpath_enabled()
    switch(False)
    try:
        yield
    finally:
        switch(before)


class _Module:
    """A module's attributes and buffers."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.attributes = dict(module.__dict__)
        self.scripted = isinstance(module, torch.jit.ScriptModule)
        """Its attributes are in C++, and `_buffers` can be read but not written to."""
        self.buffers = {name: (buffer, _Kept(buffer)) for name, buffer in module._buffers.items()}

    def put_back(self) -> None:
        if self.scripted:
            for _, kept in self.buffers.values():
                kept.put_back()
            return
        held = self.module.__dict__
        for name in [name for name in held if name not in self.attributes]:
            del held[name]
        held.update(self.attributes)
        buffers = self.module._buffers
        for name in [name for name in buffers if name not in self.buffers]:
            del buffers[name]
        for name, (buffer, kept) in self.buffers.items():
            buffers[name] = buffer
            kept.put_back()


class _Parameter:
    def __init__(self, parameter: Any, weights: bool) -> None:
        self.parameter = parameter
        self.gradient = parameter.grad
        if self.gradient is not None:
            parameter.grad = None
        self.kept = _Kept(parameter) if weights else None

    def put_back(self) -> None:
        self.parameter.grad = self.gradient
        if self.kept is not None:
            self.kept.put_back()


class _Kept:
    """A tensor's values, restored if they were changed. (`_version` does not tell: batch norm ignores it.)"""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.values: Any = None
        if tensor is None or torch.nn.parameter.is_lazy(tensor) or tensor.is_meta:
            return
        if tensor.layout is torch.strided:
            self.values = tensor.detach().clone()

    def put_back(self) -> None:
        if self.values is not None and not torch.equal(self.tensor.detach(), self.values):
            self.tensor.detach().copy_(self.values)


class _Optimizer:
    """An optimizer's attributes and its state per parameter."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.attributes = dict(optimizer.__dict__)
        self.groups = [dict(group) for group in optimizer.param_groups]
        self.state = {
            parameter: {
                name: (value, _Kept(value) if isinstance(value, torch.Tensor) else None) for name, value in held.items()
            }
            for parameter, held in optimizer.state.items()
        }

    def put_back(self) -> None:
        optimizer = self.optimizer
        optimizer.__dict__.update(self.attributes)
        for group, before in zip(optimizer.param_groups, self.groups, strict=True):
            group.clear()
            group.update(before)
        for parameter in [p for p in optimizer.state if p not in self.state]:
            del optimizer.state[parameter]
        for parameter, held in self.state.items():
            optimizer.state[parameter] = {name: value for name, (value, _) in held.items()}
            for _, kept in held.values():
                if kept is not None:
                    kept.put_back()
