"""The tabs of the *Profile* page, and what a tab says when a profile has nothing for it."""

from __future__ import annotations

from stepscope.profile.profile import Profile

__all__ = ["VIEWS", "why_empty"]

VIEWS = ("overview", "operators", "kernels", "modules", "python", "timeline", "memory", "data", "ranks")
"""In the order of the page. Diff is a tab too, but it is about two profiles."""

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
    """Why there is nothing, and how to take a profile that has something."""
    if view == "kernels" and not has_device and profile.files("events"):
        return "No work on a GPU was recorded: this ran on the CPU."
    if view == "operators" and profile.meta.kind == "advanced":
        return "This is a Python profile. Operators come with `--profiler pytorch`."
    return _HOW.get(view, "There is nothing of that in this profile.")
