"""The peak of memory by module."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.memory.categories import CATEGORIES
from stepscope.profile.memory.peak import Peak, peaks_of
from stepscope.profile.memory.placed import Placed, placed_blocks
from stepscope.profile.profile import Profile
from stepscope.profile.trace.modules import Modules
from stepscope.records.profile import Check, Column, Sheet

_SHOWN = ("parameters", "gradients", "optimizer", "activations", "temporaries")


@analysis("memory-modules", view="memory", of="profile")
def memory_modules(profile: Profile, rank: int = 0) -> Sheet | None:
    """What each module holds when most memory is in use."""
    placed = placed_blocks(profile, rank)
    if placed is None or placed.modules is None:
        return None
    peak = peaks_of(placed)[0]
    modules = placed.modules
    bytes_by = _by_module(placed, peak, modules)
    totals = {category: modules.summed(row[:-1]) for category, row in bytes_by.items()}
    rows: list[list[Any]] = []
    levels: list[int] = []
    for i in modules.order():
        whole = sum(totals[category][i] for category in CATEGORIES)
        node = modules.nodes[i]
        rows.append([node.label, node.path, whole, whole / max(1, peak.total)] + [totals[one][i] for one in _SHOWN])
        levels.append(modules.level(i))
    outside = sum(int(row[-1]) for row in bytes_by.values())
    rows.append(
        ["outside of modules", None, outside, outside / max(1, peak.total)] + [int(bytes_by[one][-1]) for one in _SHOWN]
    )
    levels.append(0)
    summed = outside + sum(int(row[:-1].sum()) for row in bytes_by.values())
    name = placed.blocks.devices[peak.device].name
    return Sheet(
        id="memory-modules",
        title=f"Memory of modules at the peak of {name}",
        columns=_COLUMNS,
        rows=rows,
        levels=levels,
        checks=[
            Check(
                name="modules and the rest sum to the peak",
                got=summed,
                expected=peak.total,
                unit="bytes",
                ok=summed == peak.total,
            )
        ],
        notes=["Each number includes the modules below."],
    )


def _by_module(placed: Placed, peak: Peak, modules: Modules) -> dict[str, Any]:
    """Bytes by category and module node; the last place is everything outside."""
    size = len(modules.nodes)
    by = {category: np.zeros(size + 1, np.int64) for category in CATEGORIES}
    paths = {node.path: i for i, node in enumerate(modules.nodes)}
    module = placed.module()
    for row in peak.live.tolist():
        category = CATEGORIES[int(placed.categories.category[row])]
        at = _owner(placed.categories.name[row], paths) if placed.categories.name[row] else int(module[row])
        by[category][at if at >= 0 else size] += int(placed.blocks.bytes[row])
    for storage in peak.before:
        at = _owner(storage.name, paths)
        by[CATEGORIES[storage.category]][at if at >= 0 else size] += storage.bytes
    by["unknown"][size] += peak.unexplained
    return by


def _owner(name: str, paths: dict[str, int]) -> int:
    """The module of a tensor: `blocks.0.fc1.weight`, or `blocks.0.fc1.weight exp_avg` of an optimizer."""
    path = name.partition(" ")[0].rpartition(".")[0]
    while path:
        if path in paths:
            return paths[path]
        path = path.rpartition(".")[0]
    return -1


_COLUMNS = [
    Column(key="module", label="Module", help="The module's name in its parent; a root by its class."),
    Column(key="path", label="Path", help="The qualified name, as in named_modules().", hidden=True),
    Column(key="bytes", label="Bytes", unit="bytes", help="All of its memory at the peak, modules below included."),
    Column(key="share", label="Share", unit="share", help="Of the device's peak."),
    Column(key="parameters_bytes", label="Parameters", unit="bytes", help="Its parameters."),
    Column(key="gradients_bytes", label="Gradients", unit="bytes", help="The gradients of its parameters."),
    Column(key="optimizer_bytes", label="Optimizer", unit="bytes", help="The optimizer's state for its parameters."),
    Column(key="activations_bytes", label="Activations", unit="bytes", help="Kept from its forward for its backward."),
    Column(key="temporaries_bytes", label="Temporaries", unit="bytes", help="Freed before anything needs them again."),
]
