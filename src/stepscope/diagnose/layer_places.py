"""Where a layer of a model was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.diagnose.attributes import assigned_at

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.modules import Module
    from stepscope.records.step import Site


def built_at(run: Evidence, root: Module, path: str) -> Site | None:
    """Where the layer at this path was made; of a copy, where its holder was; of one that a helper function made, where
    its model asked the helper for it."""
    layer = root.part(path)
    if layer is None or layer.made is None:
        return built_at(run, root, path.rpartition(".")[0]) if "." in path else None
    site = layer.made.site
    if site.function.rpartition(".")[2] in ("__init__", "<module>", "", "setup"):
        return site
    return _asked_for(run, root, path) or site


def _asked_for(run: Evidence, root: Module, path: str) -> Site | None:
    parts = path.split(".")
    for depth in range(len(parts), 0, -1):
        holder = root.part(".".join(parts[: depth - 1]))
        found = None if holder is None else assigned_at(run, holder, parts[depth - 1])
        if found is not None:
            return found
    return None
