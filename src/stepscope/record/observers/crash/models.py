"""The modules in sight of a crash: their trees, where their parts were made, and what they hold beside layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from stepscope import fence
from stepscope.evidence.frame_values import ModuleSeen
from stepscope.record.construction import construction_sites
from stepscope.record.observers.crash.frame_values import LEFT_OUT, Describer
from stepscope.record.observers.crash.kinds import kind_of
from stepscope.record.observers.module_records import live
from stepscope.record.observers.own_frames import is_own
from stepscope.record.source import assignments_of
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.record.observers.watcher import Watcher

_TORCHS = frozenset(vars(torch.nn.Module()))
_LIMITS = ("max_position_embeddings", "n_positions")
_MOST_PARTS = 30_000


def describe_models(describer: Describer, watcher: Watcher, running: list[torch.nn.Module], wanted: set[str]) -> None:
    """Fill in what `describer` has met of modules. `running`: those whose methods are on the stack."""
    close = {id(module) for module in running}
    left, done = _MOST_PARTS, set[int]()
    for record in list(describer.modules):
        root = live(record)
        parts = [] if root is None else list(root.named_modules())
        left -= len(parts)
        if left < 0:
            return
        describer.modules[record].sites = _sites(root) or {}
        for _, part in parts:
            if id(part) in done:
                continue
            done.add(id(part))
            known = watcher.module_records.of(part)
            watcher.module_records.refresh(known, part, watcher.tensor_history.known)
            seen = describer.modules.setdefault(known, ModuleSeen(known, kind_of(type(part))))
            _describe(describer, seen, part, wanted, id(part) in close)
            seen.hanging = _hanging(part)
    for module in running:
        known = watcher.module_records.of(module)
        if known in describer.modules:
            describer.modules[known].limits = _limits(module) or {}


@fence.fenced("reading where layers were made")
def _sites(root: Any) -> dict[str, Site]:
    return construction_sites(root)


def _describe(describer: Describer, seen: ModuleSeen, module: Any, wanted: set[str], close: bool) -> None:
    """Its parameters and other attributes: all of a layer that is running, else those the source speaks of."""
    for name, tensor in (*module._parameters.items(), *module._buffers.items()):
        if (close or name in wanted) and name not in seen.attributes:
            seen.attributes[name] = describer.of(tensor, 1)
    for name, value in list(vars(module).items()):
        if name in wanted and name not in _TORCHS and name not in seen.module.attributes:
            found = describer.of(value, 1)
            if found is not LEFT_OUT:
                seen.attributes[name] = found


def _hanging(module: Any) -> dict[str, Site | None]:
    kind: Any = type(module)
    return {name: assignments_of(kind).get(name) for name, value in list(vars(module).items()) if _hangs(value)}


def _hangs(value: Any) -> bool:
    if type(value) in (tuple, list):
        return any(_hangs(part) for part in value[:4])
    return isinstance(value, torch.Tensor) and value.grad_fn is not None


@fence.fenced("reading the config of a model")
def _limits(module: Any) -> dict[str, int]:
    config = getattr(module, "config", None)
    found = {name: getattr(config, name, None) for name in _LIMITS if config is not None}
    return {name: limit for name, limit in found.items() if isinstance(limit, int)}


def unmade(value: Any) -> tuple[Any, Any] | None:
    """Of a module whose `super().__init__()` has not run: its class with an own constructor, and that one's code."""
    if not isinstance(value, torch.nn.Module) or "_modules" in vars(value):
        return None
    for base in type(value).__mro__:
        code = getattr(base.__dict__.get("__init__"), "__code__", None)
        if code is not None and is_own(code):
            return base, code
    return None
