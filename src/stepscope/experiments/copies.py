"""Copies of the script's models, on which its step can be repeated."""

from __future__ import annotations

import copy
from typing import Any

import torch

from stepscope.common.units import bytes_text
from stepscope.experiments.not_checked import NotChecked
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.own_frames import is_own
from stepscope.record.observers.tape import Constant, Node, Slot, Tape, filled

MOST_BYTES = 1 << 30
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class Copies:
    """The modules of a tape, copied together, so that shared parts stay shared."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        modules = tape.modules
        if any(module is None for module in modules):
            raise NotChecked("the model no longer exists")
        if not modules:
            raise NotChecked("no module was called on the way to the loss")
        for module in modules:
            _check(module)
        memo: dict[int, Any] = {}
        try:
            copies = copy.deepcopy(modules, memo)
        except Exception as fault:
            raise NotChecked(f"the model cannot be copied ({type(fault).__name__}: {fault})") from None
        self._by_ref = dict(zip(_refs(tape), copies, strict=True))
        self._leaves = memo
        self._raw: dict[int, Any] = {}
        for module in copies:
            for parameter in module.parameters():
                parameter.grad = None

    def module_of(self, node: Node) -> Any:
        """The copy of the module that a node calls."""
        return self._by_ref[node.module]

    @property
    def modules(self) -> list[Any]:
        return list(self._by_ref.values())

    def parameters(self) -> list[Any]:
        """The trainable parameters of the copies."""
        seen = {id(p): p for module in self.modules for p in module.parameters() if p.requires_grad}
        seen.update((id(p), p) for p in self._raw.values())
        return list(seen.values())

    def arguments(self, node: Node) -> tuple[Any, Any]:
        """The arguments of a node without dependencies, as new tensors."""
        return filled((node.args, node.kwargs), lambda part: self._value(part, {}))  # type: ignore[no-any-return]

    def replay(self) -> Any:
        """The loss, recomputed, with gradients to the copies' parameters."""
        made: dict[int, Any] = {}
        constants: dict[int, Any] = {}
        for node in self.tape.nodes:
            args, kwargs = filled((node.args, node.kwargs), lambda part: self._value(part, made, constants))
            function = self.module_of(node) if node.function is None else node.function
            result = function(*args, **kwargs)
            outputs = [args[0]] if node.writes_first else tensors_in(result)
            if len(outputs) != len(node.makes):
                raise NotChecked("the step took a different path when repeated")
            made.update(zip(node.makes, outputs, strict=True))
        return made[self.tape.loss]

    def _value(self, part: Any, made: dict[int, Any], constants: dict[int, Any] | None = None) -> Any:
        if isinstance(part, Slot):
            if part.number not in made:
                raise NotChecked("the model is called with the output of another one")
            return made[part.number]
        if isinstance(part, Constant):
            fresh: dict[int, Any] = {} if constants is None else constants
            if id(part) not in fresh:  # one copy per replay: an in-place op must be visible to later readers
                fresh[id(part)] = part.tensor.clone()
            return fresh[id(part)]
        original = part.ref()
        if original is None:
            raise NotChecked("a parameter no longer exists")
        if id(original) in self._leaves:
            return self._leaves[id(original)]
        if id(original) not in self._raw:
            self._raw[id(original)] = original.detach().clone().requires_grad_()
        return self._raw[id(original)]


def _refs(tape: Tape) -> list[Any]:
    return list(dict.fromkeys(node.module for node in tape.calls))


def _check(module: Any) -> None:
    size = sum(p.numel() * p.element_size() for p in (*module.parameters(), *module.buffers()))
    if size > MOST_BYTES:
        raise NotChecked(f"the model is larger than {bytes_text(MOST_BYTES)}; it is not copied")
    if type(module).__name__ in ("DistributedDataParallel", "FullyShardedDataParallel", "OptimizedModule"):
        raise NotChecked(f"a {type(module).__name__} is not copied")
    for part in module.modules():
        if isinstance(part, torch.jit.ScriptModule):
            raise NotChecked("scripted modules are not copied")
        for name in _HOOKS:
            if any(_is_users(hook) for hook in getattr(part, name, {}).values()):
                raise NotChecked("the model has hooks of the script's own, which a copy would call too")


def _is_users(hook: Any) -> bool:
    inner = getattr(hook, "func", hook)
    code = getattr(inner, "__code__", None) or getattr(type(inner).__dict__.get("__call__"), "__code__", None)
    return code is not None and is_own(code)
