"""Saved parameters, buffers and optimizer states into the objects the script has built again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from stepscope.errors import UsageError
from stepscope.events.quiet import quietly
from stepscope.launch.capsule.manifest import Model, OptimizerState
from stepscope.launch.capsule.safe_encoding import Missing, Unpacker

if TYPE_CHECKING:
    from torch.optim import Optimizer


class Loaded(NamedTuple):
    """What was put in place, for the story."""

    what: str
    tensors: int
    bytes: int
    note: str = ""


def load_model(saved: Model, module: Any, unpacker: Unpacker) -> Loaded:
    """Parameters, buffers, modes and what is frozen. A model of another shape is refused, with the first difference."""
    kind = f"{type(module).__module__}.{type(module).__qualname__}"
    if kind.rpartition(".")[2] != saved.kind.rpartition(".")[2]:
        raise UsageError(
            f"the script called a {kind} where the saved step called a {saved.kind}; the replay cannot continue. Was "
            "another branch taken, because of its options or the code on this disk?"
        )
    if not saved.state:
        return Loaded(saved.kind, 0, 0, "its parameters are not in the capsule; they are the script's own")
    here = dict(module.named_parameters()) | dict(module.named_buffers())
    differing = sorted(set(saved.state) ^ set(here))
    if differing:
        which = "is not in the model" if differing[0] in saved.state else "is not in the capsule"
        raise UsageError(f"the model has changed since the step was saved: {differing[0]!r} {which}")
    size = 0
    with quietly():
        for name, node in saved.state.items():
            size += _copy(name, unpacker.unpack(node), here[name])
    frozen = set(saved.frozen)
    for name, parameter in module.named_parameters():
        if parameter.requires_grad is (name in frozen) and parameter.is_leaf:
            parameter.requires_grad_(name not in frozen)
    for name, part in module.named_modules():
        part.training = saved.modes.get(name, saved.training)
    return Loaded(saved.kind, len(saved.state), size)


def _copy(name: str, value: Any, target: Any) -> int:
    if isinstance(value, Missing):
        return 0
    if target.shape != value.shape:
        raise UsageError(
            f"the model has changed since the step was saved: {name!r} is {list(target.shape)} here and was "
            f"{list(value.shape)}"
        )
    target.copy_(value)
    return int(value.numel()) * int(value.element_size())


def load_optimizer(saved: OptimizerState, optimizer: Optimizer | None, unpacker: Unpacker) -> Loaded:
    """Settings, moments, and parameters that belong to no model."""
    what = f"{saved.kind} (optimizer {saved.number})"
    if optimizer is None or type(optimizer).__name__ != saved.kind:
        return Loaded(what, 0, 0, "the script has not created it yet; it starts without its state")
    size = tensors = 0
    for group, settings in zip(optimizer.param_groups, unpacker.unpack(saved.groups), strict=False):
        group.update({name: value for name, value in settings.items() if not isinstance(value, Missing)})
    for parameter, value in _loose(optimizer, unpacker.unpack(saved.parameters)):
        with quietly():
            size += _copy("a parameter of no model", value, parameter)
        tensors += 1
    if saved.state is None:
        return Loaded(what, tensors, size, "its state is not in the capsule; the loss does not depend on it")
    order = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for parameter, state in zip(order, unpacker.unpack(saved.state), strict=False):
        kept = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in state.items()}
        if kept:
            optimizer.state[parameter] = kept
            tensors += sum(isinstance(value, torch.Tensor) for value in kept.values())
    return Loaded(what, tensors, size)


def _loose(optimizer: Optimizer, values: list[list[Any]]) -> Iterator[tuple[Any, torch.Tensor]]:
    """The optimizer's parameters that belong to no model, with their saved values."""
    for group, saved in zip(optimizer.param_groups, values, strict=False):
        for parameter, value in zip(group["params"], saved, strict=False):
            if isinstance(value, torch.Tensor):
                yield parameter, value
