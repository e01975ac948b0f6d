"""Two profiles side by side: what got slower, where, beyond the noise."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from stepscope.errors import BadData
from stepscope.records.profile import ProfileDiff
from stepscope.views.context import Context
from stepscope.views.profile.answers import shown_sheet
from stepscope.views.profile.open_profiles import FROM_DATA, profile_of
from stepscope.views.route import route


class ProfileRef(msgspec.Struct):
    run: str
    profile: str


class DiffRequest(msgspec.Struct):
    a: ProfileRef
    """The profile to compare with: the earlier one."""
    b: ProfileRef
    rank: int | None = None


@route("POST", "/api/profile/diff")
def profile_diff(ctx: Context, request: DiffRequest) -> ProfileDiff:
    """Step times in `b` compared with `a`, as `stepscope profile --diff` prints them."""
    from stepscope.profile.diff import diff_profiles

    a, b = (profile_of(ctx, one.run, one.profile) for one in (request.a, request.b))
    rank = b.rank(request.rank)
    a.rank(rank)
    names = _names(ctx, request)
    first, second = sorted((a, b), key=id)  # two diffs of the same profiles never wait for each other
    try:
        with first.alone(), second.alone():
            found = diff_profiles(a.profile, b.profile, names=names, rank=rank)
    except FROM_DATA as fault:
        raise BadData(f"the two profiles cannot be compared ({type(fault).__name__}: {fault})"[:500]) from fault
    return replace(found, sheets=[shown_sheet(sheet) for sheet in found.sheets])


def _names(ctx: Context, request: DiffRequest) -> tuple[str, str]:
    """The runs' names if they differ, else the profiles'."""
    runs = [ctx.runs.get(one.run).name for one in (request.a, request.b)]
    if runs[0] != runs[1]:
        return runs[0], runs[1]
    if request.a.run == request.b.run:
        return request.a.profile, request.b.profile
    return f"{runs[0]} ({request.a.run[-6:]})", f"{runs[1]} ({request.b.run[-6:]})"
