"""What each block of memory is: parameters, gradients, optimizer state, activations, temporaries or input.

Where the collector noted the storages of parameters, gradients and optimizer state, a block at such an address that is
still there at the end is that. All others are told by where in the step they were allocated and how long they lived.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.memory.blocks import Blocks
from stepscope.profile.trace.ancestors import nearest
from stepscope.profile.trace.trace import Kind, Trace

__all__ = ["CATEGORIES", "Categories", "Storage", "categories_of", "known_storages"]

Ints = npt.NDArray[Any]

CATEGORIES = ("parameters", "buffers", "gradients", "optimizer", "activations", "temporaries", "input", "unknown")
_PARAMETERS, _BUFFERS, _GRADIENTS, _OPTIMIZER, _ACTIVATIONS, _TEMPORARIES, _INPUT, _UNKNOWN = range(8)

_NODE = "autograd::engine::evaluate_function: "
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
    """By device: storages that are there since before the trace, and are no block of it."""


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


def categories_of(trace: Trace, blocks: Blocks, facts: Mapping[str, Any], module: Ints | None = None) -> Categories:
    """The category of each block. `module`: for each event its module, -1 outside, where that is known."""
    category = _by_life(trace, blocks, module)
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


def _by_life(trace: Trace, blocks: Blocks, module: Ints | None) -> Ints:
    """By where it was allocated and when it was freed."""
    host, freed = blocks.host, blocks.freed_by
    station, annotation = _stations(trace)
    where = np.where(host >= 0, station[host], _NOWHERE)
    freed_in = np.where(freed >= 0, station[freed], _NOWHERE)
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
    category[forward & _is_input(trace, host, module)] = _INPUT
    category[seen & (where == _DATA)] = _INPUT

    # Backward: what lives on when it is over is a gradient.
    in_backward = seen & (where == _BACKWARD)
    if len(regions):
        mine = np.clip(np.searchsorted(regions, blocks.begin_ns, side="right") - 1, 0, len(regions) - 1)
        outlives = dies > region_end[mine]
        category[in_backward] = np.where(outlives, _GRADIENTS, _TEMPORARIES)[in_backward]

    # Optimizer: its state stays, the rest is gone when it returns.
    in_step = seen & (where == _STEP)
    returns = np.where(host >= 0, trace.events.end[annotation[host]], 0)
    category[in_step] = np.where(dies > returns, _OPTIMIZER, _TEMPORARIES)[in_step]

    category[~seen & (freed_in == _ZERO)] = _GRADIENTS
    category[~seen & (freed_in == _BACKWARD)] = _ACTIVATIONS
    return category


_NOWHERE, _FORWARD, _BACKWARD, _STEP, _ZERO, _DATA = range(6)


def _stations(trace: Trace) -> tuple[Ints, Ints]:
    """For each host event the part of the training loop it lies in, and the span that says so (or -1)."""
    events = trace.events
    wanted = events.named(lambda name: _station(name) != _FORWARD) & (trace.kind == Kind.ANNOTATION)
    annotation = nearest(trace.parent, wanted)
    kinds = np.array([_station(name) for name in events.names] or [0])
    station = np.where(annotation >= 0, kinds[events.name[annotation]], _FORWARD)
    is_node = events.named(lambda name: name.startswith(_NODE)) & (trace.kind == Kind.OP)
    in_backward = nearest(trace.parent, is_node) >= 0
    # On an accelerator backward has a thread of its own, where nothing but backward runs.
    lanes = np.setdiff1d(events.lane[is_node], events.lane[trace.kind == Kind.ANNOTATION])
    in_backward |= np.isin(events.lane, lanes)
    station[in_backward & (station == _FORWARD)] = _BACKWARD
    return station, annotation


def _station(name: str) -> int:
    if name.startswith("Optimizer.step#"):
        return _STEP
    if name.startswith("Optimizer.zero_grad#"):
        return _ZERO
    return _DATA if name.startswith("enumerate(DataLoader)") else _FORWARD


def _backward_regions(trace: Trace) -> tuple[Ints, Ints]:
    """Where each backward begins and ends: stretches of backward nodes without other outermost operators between."""
    events = trace.events
    top = np.flatnonzero((trace.kind == Kind.OP) & (trace.op_parent < 0))
    top = top[np.argsort(events.start[top], kind="stable")]
    is_node = events.named(lambda name: name.startswith(_NODE))[top]
    if not is_node.any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    begins = is_node.copy()
    begins[1:] &= ~is_node[:-1]
    group = np.cumsum(begins)[is_node] - 1
    nodes = top[is_node]
    end = np.zeros(int(group[-1]) + 1, np.int64)
    np.maximum.at(end, group, events.end[nodes])
    return events.start[top[begins]], end


def _is_input(trace: Trace, rows: Ints, module: Ints | None) -> Ints:
    """A mask: allocated outside of modules by an outermost operator that makes or moves data."""
    events = trace.events
    is_top = (trace.kind == Kind.OP) & (trace.op_parent < 0)
    top = np.where(rows >= 0, nearest(trace.parent, is_top)[rows], -1)
    makes = np.array([name in _MAKES or name in _MOVES for name in events.names] or [False])
    found = (top >= 0) & makes[events.name[top]]
    if module is not None:
        found &= module[top] < 0
    else:  # without modules, only what came from elsewhere: copies to the device
        moves = np.array([name in _MOVES for name in events.names] or [False])
        found &= moves[events.name[top]]
    return np.asarray(found)
