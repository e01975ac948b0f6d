"""A trainer's own boundaries, taken where there is one instead of guessed. One file a trainer, found by its folder.

Each file has `follow(imports, installed, boundaries)`: it waits for the package with `imports.when`, hooks the
trainer's own methods with `around` and `after`, and tells `Boundaries` what it sees there.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from stepscope import fence
from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.trainers.boundaries import Boundaries, Stage
from stepscope.launch.trainers.wrap_method import after, around

__all__ = ["Boundaries", "Stage", "after", "around", "follow_trainers"]

_OURS = frozenset(("boundaries", "keras_steps", "wrap_method"))


def follow_trainers(imports: Imports, installed: Installed, boundaries: Boundaries) -> None:
    """Wait for every trainer we know; nothing of theirs is imported before the script does."""
    for found in pkgutil.iter_modules(__path__):
        if found.name not in _OURS:
            module = import_module(f"{__name__}.{found.name}")
            fence.fenced(f"waiting for {found.name}")(module.follow)(imports, installed, boundaries)
