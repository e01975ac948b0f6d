"""Shows the run under the notebook cell, through the `notebook` package."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from stepscope import fence

if TYPE_CHECKING:
    from stepscope.track.run import Run


def show_panel(run: Run, panel: bool | None, before: Run | None) -> None:
    """In a notebook's kernel: a live panel of the run that was just opened. `before` is the previously open run."""
    if "ipykernel" in sys.modules or "google.colab" in sys.modules:
        fence.call("showing the panel", _show, run, panel, before)


def _show(run: Run, panel: bool | None, before: Run | None) -> None:
    # `notebook` is above this package, so it is imported by name, and only in a kernel.
    word = "" if before is None else f"run {before.name!r} was still open and has been finished"
    import_module("stepscope.notebook.panel").show(run, panel, word)
