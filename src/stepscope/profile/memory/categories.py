"""What each block of memory is: parameters, gradients, optimizer state, activations, temporaries or input.

Where the collector noted the storages of parameters, gradients and optimizer state, a block at such an address that is
still there at the end is that. All others are recognized by where in the step they were allocated and how long they
lived.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.memory.blocks import Blocks
from stepscope.profile.trace.ancestors import nearest_of
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.modules import backward_nodes
from stepscope.profile.trace.trace import Trace

Ints = npt.NDArray[Any]

CATEGORIES = ("parameters", "buffers", "gradients", "optimizer", "activations", "temporaries", "input", "unknown")
_PARAMETERS, _BUFFERS, _GRADIENTS, _OPTIMIZER, _ACTIVATIONS, _TEMPORARIES, _INPUT, _UNKNOWN = range(8)

_MAKES = {"aten::randn", "aten::rand", "aten::randint", "aten::tensor", "aten::stack", "aten::arange", "aten::zeros",
          "aten::ones", "aten::full", "aten::empty", "aten::randperm", "aten::normal", "aten::index",
          "aten::index_select", "detach_", "aten::lift_fresh", "aten::from_file"}  # fmt: skip
_MOVES = {"aten::to", "aten::_to_copy", "aten::cuda", "aten::pin_memory", "aten::_pin_memory", "aten::copy_"}


@dataclass(frozen=True)
class Storage:
    """What the collector noted of one storage."""

    category: int
    name: str
    bytes: int


@dataclass(frozen=True)
class Categories:
    category: Ints
    """For each block, an index into CATEGORIES."""
    name: list[str]
    """For each block the name of the tensor, where the collector noted it."""
    before: list[list[Storage]]
    """By device: storages that are there since before the trace, and are not a block of it."""


def known_storages(facts: Mapping[str, Any]) -> dict[tuple[str, int], Storage]:
    """The storages the collector noted, by device (as blocks name it) and address."""
    found: dict[tuple[str, int], Storage] = {}
    noted = facts.get("storages")
    for category, entries in noted.items() if isinstance(noted, Mapping) else ():
        if category not in CATEGORIES:
            continue
        for address, size, name, device in entries:
            kind, _, number = str(device).partition(":")
            label = "CPU" if kind == "cpu" else f"{kind.upper()} {number or 0}"
            on_device = -(-int(size) // 512) * 512  # CUDA's allocator hands out multiples of 512 bytes
            whole = int(size) if kind == "cpu" else on_device
            found[label, int(address)] = Storage(CATEGORIES.index(category), str(name), whole)
    return found


def categories_of(
    trace: Trace, blocks: Blocks, facts: Mapping[str, Any], outermost: Ints, module: Ints | None = None
) -> Categories:
    """The category of each block.

    `outermost`: for each block its outermost operator. `module`: for each event its module, where that is known.
    """
    category = _by_life(trace, blocks, outermost, module)
    name = [""] * len(blocks)
    storages = known_storages(facts)
    before: list[list[Storage]] = [[] for _ in blocks.devices]
    labels = {device.name: i for i, device in enumerate(blocks.devices)}
    alive = np.flatnonzero(blocks.end_ns < 0)
    at = {
        (int(device), int(address)): int(row)
        for device, address, row in zip(blocks.device[alive], blocks.address[alive], alive, strict=True)
    }
    for (label, address), storage in storages.items():
        device = labels.get(label)
        if device is None:
            continue
        row = at.get((device, address))
        if row is None:
            before[device].append(storage)
        else:
            category[row], name[row] = storage.category, storage.name
    return Categories(category, name, before)


def _by_life(trace: Trace, blocks: Blocks, outermost: Ints, module: Ints | None) -> Ints:
    """By where it was allocated and when it was freed."""
    where, annotation = _stations(trace, blocks.host)
    freed_in, _ = _stations(trace, blocks.freed_by)
    regions, region_end = _backward_regions(trace)
    category = np.full(len(blocks), _UNKNOWN, np.int64)
    seen = blocks.begin_ns >= 0
    dies = np.where(blocks.end_ns < 0, np.iinfo(np.int64).max, blocks.end_ns)

    # Forward: what a backward that comes later still needs is an activation.
    if len(regions):
        following = np.searchsorted(regions, blocks.begin_ns)
        needed_at = np.where(following < len(regions), regions[np.minimum(following, len(regions) - 1)], dies)
        kept = (following < len(regions)) & (dies > needed_at)
    else:
        kept = np.zeros(len(blocks), bool)
    forward = seen & (where == _FORWARD)
    category[forward] = np.where(kept, _ACTIVATIONS, _TEMPORARIES)[forward]
    category[forward & _is_input(trace, outermost, module)] = _INPUT
    category[seen & (where == _DATA)] = _INPUT

    # Backward: what lives on when it is over is a gradient.
    in_backward = seen & (where == _BACKWARD)
    if len(regions):
        mine = np.clip(np.searchsorted(regions, blocks.begin_ns, side="right") - 1, 0, len(regions) - 1)
        outlives = dies > region_end[mine]
        category[in_backward] = np.where(outlives, _GRADIENTS, _TEMPORARIES)[in_backward]

    # Optimizer: its state stays, the rest is gone when it returns.
    in_step = seen & (where == _STEP)
    returns = np.where(annotation >= 0, trace.events.end_of(annotation), 0)
    category[in_step] = np.where(dies > returns, _OPTIMIZER, _TEMPORARIES)[in_step]

    category[~seen & (freed_in == _ZERO)] = _GRADIENTS
    category[~seen & (freed_in == _BACKWARD)] = _ACTIVATIONS
    return category


_NOWHERE, _FORWARD, _BACKWARD, _STEP, _ZERO, _DATA = range(6)


def _stations(trace: Trace, rows: Ints) -> tuple[Ints, Ints]:
    """For each of these host events the part of the training loop it lies in, and the span that says so (or -1)."""
    events = trace.events
    kinds = np.array([_station(name) for name in events.names] or [0])
    is_annotation = trace.kind == Kind.ANNOTATION.value
    annotation = nearest_of(trace.parent, is_annotation & events.named(_says_where), rows)
    station = np.where(annotation >= 0, kinds[events.name[annotation]], _FORWARD)
    is_node = backward_nodes(trace)
    in_backward = nearest_of(trace.parent, is_node, rows) >= 0
    # On an accelerator backward has a thread of its own, where nothing but backward runs.
    only_backward = np.bincount(events.lane[is_node], minlength=len(events.lanes) + 1) > 0
    only_backward[events.lane[is_annotation]] = False
    in_backward |= only_backward[events.lane[rows]]
    station[in_backward & (station == _FORWARD)] = _BACKWARD
    return np.where(rows >= 0, station, _NOWHERE), annotation


def _says_where(name: str) -> bool:
    return _station(name) != _FORWARD


def _station(name: str) -> int:
    if name.startswith("Optimizer.step#"):
        return _STEP
    if name.startswith("Optimizer.zero_grad#"):
        return _ZERO
    return _DATA if name.startswith("enumerate(DataLoader)") else _FORWARD


def _backward_regions(trace: Trace) -> tuple[Ints, Ints]:
    """Where each backward begins and ends: stretches of backward nodes without other outermost operators between."""
    events = trace.events
    top = np.flatnonzero((trace.kind == Kind.OP.value) & (trace.op_parent < 0))
    top = top[np.argsort(events.start[top], kind="stable")]
    is_node = backward_nodes(trace)[top]
    if not is_node.any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    begins = is_node.copy()
    begins[1:] &= ~is_node[:-1]
    group = np.cumsum(begins)[is_node] - 1
    nodes = top[is_node]
    end = np.zeros(int(group[-1]) + 1, np.int64)
    np.maximum.at(end, group, events.end_of(nodes))
    return events.start[top[begins]], end


def _is_input(trace: Trace, outermost: Ints, module: Ints | None) -> Ints:
    """A mask: allocated outside of modules by an outermost operator that makes or moves data."""
    names = trace.events.names
    # Without modules, only what came from elsewhere counts: copies to the device.
    wanted = _MOVES if module is None else _MAKES | _MOVES
    found = (outermost >= 0) & np.array([name in wanted for name in names] or [False])[trace.events.name[outermost]]
    return np.asarray(found if module is None else found & (module[outermost] < 0))
