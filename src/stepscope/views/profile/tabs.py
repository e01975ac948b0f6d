"""The tabs of the *Profile* page, and the message of a tab without data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from stepscope.profile.profile import Profile

if TYPE_CHECKING:
    from stepscope.profile.analyses.analysis import Analysis

VIEWS = ("overview", "operators", "kernels", "modules", "python", "timeline", "memory", "data", "ranks")
"""In page order. Diff is a tab too, but it compares two profiles."""

_FIRST = (
    "run-phases", "phases", "steps", "lines", "critical-path", "operators", "operators-by-shape", "flops", "kernels",
    "kernel-kinds", "launches", "modules", "python", "python-profile", "memory-curve", "memory-peak", "memory-events",
    "memory-operators", "data-stages", "data-starvation", "ranks", "stragglers", "communication", "overlap",
)  # fmt: skip
"""The first analyses of a tab; those not listed here follow by id."""

_HOW = {
    "overview": "No steps were recorded in it.",
    "operators": "No operators were recorded: take one with `stepscope profile train.py --profiler pytorch`.",
    "kernels": "No operators were recorded, so no kernels either: take one with `--profiler pytorch`.",
    "modules": "Needs the names of modules: take one with `--with-stack`.",
    "python": "Needs Python calls: take one with `--profiler advanced` or `--with-stack`.",
    "timeline": "No events were recorded: take one with `--profiler pytorch`.",
    "memory": "Allocations were not recorded: take one with `--profile-memory`.",
    "data": "No DataLoader was seen at work during this profile.",
    "ranks": "It has one process; ranks are compared when a job has several.",
}


def why_empty(view: str, profile: Profile, has_device: bool) -> str:
    """Why there is no data, and how to record a profile that has some."""
    if view == "kernels" and not has_device and profile.files("events"):
        return "No work on a GPU was recorded: this ran on the CPU."
    if view == "operators" and profile.meta.kind == "advanced":
        return "This is a Python profile. Operators come with `--profiler pytorch`."
    return _HOW.get(view, "This profile has no such data.")


def in_order(analyses: Iterable[Analysis]) -> list[Analysis]:
    """The most used first."""
    place = {id: at for at, id in enumerate(_FIRST)}
    return sorted(analyses, key=lambda one: (place.get(one.id, len(place)), one.id))
