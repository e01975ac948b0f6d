"""The user's line to blame for a layer: where it was built, or where a model was made that a package defines."""

from __future__ import annotations

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.layers import built_at
from stepscope.evidence.modules import Module
from stepscope.records.step import Site


def own_line(crash: Crash, root: Module, path: str) -> Site | None:
    """Nobody mends a line of an installed package: then the line that made the model and gave it its sizes."""
    built = built_at(crash.modules, root, path)
    if built is None or built.file in crash.own_files:
        return built
    seen = crash.modules.get(root)
    made = None if seen is None else seen.sites.get("")
    return made if made is not None and made.file in crash.own_files else None
