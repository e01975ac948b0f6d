"""Whoever runs a notebook sees the run under the cell: asks the room of notebooks for its panel."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from stepscope import fence

if TYPE_CHECKING:
    from stepscope.track.run import Run

__all__ = ["show_panel"]


def show_panel(run: Run, panel: bool | None, before: Run | None) -> None:
    """In a notebook's kernel: a live panel of the run that was just opened. `before` is the one that was open."""
    if "ipykernel" in sys.modules or "google.colab" in sys.modules:
        fence.call("showing the panel", _show, run, panel, before)


def _show(run: Run, panel: bool | None, before: Run | None) -> None:
    # The room of notebooks stands above this one, so it is asked for by its name, and only where there is a kernel.
    word = "" if before is None else f"run {before.name!r} was still open and has been finished"
    import_module("stepscope.notebook.panel").show(run, panel, word)
