"""The user's line to blame for a layer: where it was built, or where a model was made that a package defines."""

from __future__ import annotations

from torch import nn

from stepscope.diagnose.crash.layers import built_at
from stepscope.record.construction import construction_sites
from stepscope.common.whose import is_own_file
from stepscope.records.step import Site

__all__ = ["own_line"]


def own_line(root: nn.Module, path: str) -> Site | None:
    """Nobody mends a line of an installed package: then the line that made the model and gave it its sizes."""
    built = built_at(root, path)
    if built is None or is_own_file(built.file):
        return built
    sites = construction_sites(root)
    made = sites.get("")
    return made if made is not None and is_own_file(made.file) else None
