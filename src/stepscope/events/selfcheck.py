"""Put everything in place once, train a little, take it all away: is everything as it was?"""

from __future__ import annotations

import signal
import sys
from typing import Any, NamedTuple

import torch
import torch.optim.optimizer as torch_optimizer
import torch.overrides
from torch.utils.data import DataLoader, TensorDataset, dataloader

from stepscope import fence
from stepscope.events.hub import KINDS, subscribe
from stepscope.events.installed import Installed
from stepscope.events.operations import follow
from stepscope.events.patches import installed_now
from stepscope.events.points import POINTS

_GROUPS = ("torch", "process", "settings")
"""Groups whose points are wrapped in the check; the others need packages that are not imported for it."""


class SelfCheck(NamedTuple):
    """What came of it."""

    patches: int
    """Attributes that were patched while everything was in place."""
    events: int
    """Events that the little training made."""
    operations: int
    left: tuple[str, ...]
    """What is not as it was; empty if all is well."""
    same_bits: bool
    """The little training gave the same weights with us and without."""
    faults: tuple[str, ...]
    """Where a part of Stepscope failed."""


def check() -> SelfCheck:
    """Needs about a second. Draws no random number of the process's own generators."""
    alone, before = _train(), _surfaces()
    counts = {"events": 0}

    def heard(*facts: Any) -> None:
        counts["events"] += 1

    faults: list[fence.Fault] = []
    fence.on_fault(faults.append)
    installed, follower = Installed(), _Follower()
    handlers: dict[str, Any] = dict.fromkeys(KINDS, heard)
    subscription = subscribe("stepscope doctor", **handlers)
    undo = follow(follower)
    for point in POINTS.values():
        if point.group in _GROUPS and not point.address.startswith("sys:std"):
            installed.wrap(point.address, lambda original: original)
    patches = len(installed_now())
    try:
        watched = _train()
    finally:
        undo()
        installed.remove()
        subscription.remove()
        fence.on_fault(None)
    after = _surfaces()
    left = tuple(name for name in before if not _is_same(before[name], after.get(name)))
    same = all(torch.equal(one, other) for one, other in zip(alone, watched, strict=True))
    return SelfCheck(patches, counts["events"], follower.operations, left, same, tuple(fault.where for fault in faults))


class _Follower:
    who, paused, under_modes = "stepscope doctor", 0, False

    def __init__(self) -> None:
        self.operations = 0

    def begin(self, plan: Any, function: Any, args: Any, kwargs: Any, frame: Any) -> None:
        self.operations += 1

    def end(self, begun: Any, result: Any) -> None:
        """Nothing is kept."""

    def fail(self, begun: Any, error: BaseException) -> None:
        """Nor here."""


def _train() -> list[torch.Tensor]:
    """Six steps of a model whose weights and data are computed, not drawn."""
    model = torch.nn.Sequential(torch.nn.Linear(4, 4, device="meta").to_empty(device="cpu"), torch.nn.ReLU())
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.linspace(-1, 1, parameter.numel()).reshape(parameter.shape))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = TensorDataset(torch.linspace(-2, 2, 48).reshape(12, 4))
    for (x,) in DataLoader(data, batch_size=2, generator=torch.Generator()):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    return [parameter.detach().clone() for parameter in model.parameters()]


def _surfaces() -> dict[str, Any]:
    """Everything that may be changed, as it is now: each point's raw attribute, hooks, modes, finders, handlers."""
    found: dict[str, Any] = {
        "the global optimizer hooks": [
            *torch_optimizer._global_optimizer_pre_hooks.values(),
            *torch_optimizer._global_optimizer_post_hooks.values(),
        ],
        "the stack of function modes": torch.overrides.__dict__["_get_current_function_mode_stack"](),
        "the number of dispatch modes": [torch._C._len_torch_dispatch_stack()],
        "sys.meta_path": list(sys.meta_path),
        "the handler of SIGTERM": [signal.getsignal(signal.SIGTERM)],
        "Module.__call__": [vars(torch.nn.Module)[name] for name in ("__call__", "_call_impl")],
        "autograd's engine": [vars(torch.autograd).get("_engine_run_backward")],
        "DataLoader": [vars(dataloader.DataLoader)[name] for name in ("__init__", "__iter__")],
        "the iterator of DataLoader": [vars(dataloader._BaseDataLoaderIter)["__next__"]],
    }
    for address in POINTS:
        module, _, path = address.partition(":")
        owner = sys.modules.get(module)
        *way, name = path.split(".")
        for part in way:
            owner = getattr(owner, part, None)
        found[address] = [getattr(owner, "__dict__", {}).get(name)]
    return found


def _is_same(before: list[Any], after: Any) -> bool:
    return len(before) == len(after) and all(one is other or one == other for one, other in zip(before, after))  # noqa: B905
