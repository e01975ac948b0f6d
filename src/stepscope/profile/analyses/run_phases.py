"""Every step of the run by phase: what the simple profiler timed, without any window."""

from __future__ import annotations

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.profile import Profile
from stepscope.records.profile import StepParts


@analysis("run-phases", view="overview", of="profile")
def run_phases(profile: Profile, rank: int = 0) -> StepParts | None:
    """All steps of the run by phase, from the clock that is always on."""
    found = profile.phases(rank)
    return found if found is not None and found.steps else None
