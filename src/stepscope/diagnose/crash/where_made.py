"""The user's line that made a tensor: by what was recorded of it, else by the variables that hold it."""

from __future__ import annotations

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.provenance import story
from stepscope.diagnose.crash.turning_point import made_before, turning_point
from stepscope.evidence.frame_values import HeldTensor
from stepscope.records.step import Site


def made_where(crash: Crash, tensor: HeldTensor) -> Site | None:
    """Where it was computed, rows picked from it left out."""
    site = made_before(crash, tensor.origin)
    if site is not None:
        return site
    return next((step.site for step in story(crash, tensor) if step.site is not None), None)


def cast_where(crash: Crash, tensor: HeldTensor) -> Site | None:
    """Where it got its dtype."""
    site = turning_point(crash, tensor, lambda dtype, axes: dtype == tensor.dtype)
    running = {(frame.file, frame.line) for frame in crash.own}
    return made_where(crash, tensor) if site is None or (site.file, site.line) in running else site
