"""Stepscope: see inside every training step.

    import stepscope

    with stepscope.init(project="vae", config={"lr": 1e-3}) as run:
        for step, batch in enumerate(loader):
            run.log({"loss": loss, "recon": stepscope.Image(x)})

    for run in stepscope.runs("stepscope-runs", "config.lr < 0.01 and status = finished"):
        print(run.name, run.series("loss").values.min())

Everything here is imported on first use: `import stepscope` costs milliseconds and never imports torch.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# The public names and where each lives. docs/api.md lists them with examples.
_HOMES = {
    # tracking: inside the training process
    "init": "stepscope.track.session",
    "log": "stepscope.track.session",
    "finish": "stepscope.track.session",
    "current": "stepscope.track.session",
    "Run": "stepscope.track.run",
    # what can be logged besides numbers
    "Image": "stepscope.track.media",
    "Histogram": "stepscope.track.media",
    "Figure": "stepscope.track.media",
    "Audio": "stepscope.track.media",
    "Video": "stepscope.track.media",
    "Text": "stepscope.track.media",
    "Markdown": "stepscope.track.media",
    "Html": "stepscope.track.media",
    "Table": "stepscope.track.media",
    "PRCurve": "stepscope.track.media",
    "ROCCurve": "stepscope.track.media",
    "ConfusionMatrix": "stepscope.track.media",
    "Embedding": "stepscope.track.media",
    "File": "stepscope.track.media",
    # looking inside a step
    "Step": "stepscope.inspect.step",
    "summary": "stepscope.inspect.summary",
    "profile_layers": "stepscope.inspect.layers",
    "time_steps": "stepscope.inspect.time_steps",
    "diff": "stepscope.inspect.diff",
    "trace_values": "stepscope.record.trace_values",
    "watch_layers": "stepscope.record.layer_statistics",
    # looking at data
    "data": "stepscope.launch.data",
    # stopping in a debugger
    "breakpoint": "stepscope.launch.breakpoints",
    # reading back: anywhere, without torch
    "run": "stepscope.runs.catalogue.run_list",
    "StepscopeError": "stepscope.errors",
}
_ROOMS = {"runs", "record", "profile"}  # packages that are also functions

__all__ = [*_HOMES, *_ROOMS, "__version__"]

if TYPE_CHECKING:
    from stepscope.errors import StepscopeError as StepscopeError
    from stepscope.inspect.diff import diff as diff
    from stepscope.inspect.layers import profile_layers as profile_layers
    from stepscope.inspect.recording import record as record
    from stepscope.inspect.step import Step as Step
    from stepscope.inspect.summary import summary as summary
    from stepscope.inspect.time_steps import time_steps as time_steps
    from stepscope.launch.breakpoints import breakpoint as breakpoint
    from stepscope.launch.data import data as data
    from stepscope.profile.collect.api import ProfileRoom
    from stepscope.record.layer_statistics import watch_layers as watch_layers
    from stepscope.record.trace_values import trace_values as trace_values
    from stepscope.runs.catalogue.run_list import run as run, runs as runs
    from stepscope.track.media import (
        Audio as Audio,
        ConfusionMatrix as ConfusionMatrix,
        Embedding as Embedding,
        Figure as Figure,
        File as File,
        Histogram as Histogram,
        Html as Html,
        Image as Image,
        Markdown as Markdown,
        PRCurve as PRCurve,
        ROCCurve as ROCCurve,
        Table as Table,
        Text as Text,
        Video as Video,
    )
    from stepscope.track.run import Run as Run
    from stepscope.track.session import current as current, finish as finish, init as init, log as log

    profile: ProfileRoom


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext stepscope` in a notebook; docs/integrations/jupyter.md lists the magics."""
    import_module("stepscope.notebook.magics").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext stepscope`."""
    import_module("stepscope.notebook.magics").unload(shell)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is not None:
        try:
            value = globals()[name] = getattr(import_module(home), name)
            if "ipykernel" in sys.modules:  # a notebook: our objects show themselves in it
                import_module("stepscope.notebook.displays").install_here()
        except ModuleNotFoundError as fault:
            from stepscope.errors import MissingExtra

            MissingExtra.if_torch(name, fault)
            raise
        return value
    if name in _ROOMS:
        return import_module(f"stepscope.{name}")
    raise AttributeError(f"module 'stepscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
