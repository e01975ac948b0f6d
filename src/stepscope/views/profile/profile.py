"""The *Profile* page: the profiles of a run, the tabs with data, and the analyses' results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from stepscope.errors import StepscopeError
from stepscope.profile.profile import Profile, profiles_in
from stepscope.records.profile import Curve, ProfileMeta, Sheet, StepParts
from stepscope.views.context import Context
from stepscope.views.profile.answers import AnswerKind, kind_of, shown_sheet, size_of
from stepscope.views.profile.open_profiles import Failed, OpenProfile, guarded, profile_of, profiles_folder
from stepscope.views.profile.request import waiting_s, why_no_request
from stepscope.views.profile.tabs import VIEWS, in_order, why_empty
from stepscope.views.route import route

if TYPE_CHECKING:
    from stepscope.profile.analyses.analysis import Answer

MAX_PROFILES = 500


class ProfilesRequest(msgspec.Struct):
    run: str


class ShownProfile(msgspec.Struct):
    """One profile of a run, as described in `profile.json`."""

    id: str
    kind: Literal["simple", "advanced", "pytorch", "opened"] = "simple"
    created: float = 0.0
    first_step: int | None = None
    last_step: int | None = None
    why: str = ""
    """Why it was taken."""
    host: str = ""
    world: int = 1
    ranks: list[int] = []
    kinds: list[str] = []
    """The kinds of its files: events, trace, prof, stacks ..."""
    bytes: int = 0
    overhead: str = ""
    """The cost of recording it, in words."""
    notes: list[str] = []
    error: str | None = None
    """Why it cannot be read."""


class RunProfiles(msgspec.Struct):
    profiles: list[ShownProfile]
    """In the order recorded, newest last."""
    omitted: int
    """Number of older ones not listed."""
    waiting_s: float | None
    """Seconds since a profile was requested that the run has not started yet; None: no request."""
    why_no_request: str
    """Why the next steps cannot be profiled from here; empty if they can."""


class ProfileRequest(msgspec.Struct):
    run: str
    profile: str
    rank: int | None = None
    """None: the first rank."""


class OfferedAnswer(msgspec.Struct):
    """An analysis that has data, or that could not read what was recorded."""

    id: str
    title: str
    about: str
    kind: AnswerKind
    size: int
    """Rows, steps, points or frames."""
    why: str = ""
    """The error of one that failed."""


class ProfileTab(msgspec.Struct):
    id: str
    answers: list[OfferedAnswer]
    why: str
    """Why there is no data; empty if there is some."""


class ProfilePage(msgspec.Struct):
    profile: ShownProfile
    rank: int
    tabs: list[ProfileTab]
    damaged: str = ""
    """Why the rank's events cannot be read; tabs that do not need them still work."""


class AnswerRequest(msgspec.Struct):
    run: str
    profile: str
    analysis: str
    rank: int | None = None


class ProfileAnswer(msgspec.Struct):
    """The result of one analysis, in the field named by its kind."""

    id: str
    kind: AnswerKind
    sheet: Sheet | None = None
    parts: StepParts | None = None
    curve: Curve | None = None
    rows: int = 0
    """Rows of the whole sheet; the page gets at most 20,000 of them."""
    why: str = ""


@route("POST", "/api/profiles")
def profiles(ctx: Context, request: ProfilesRequest) -> RunProfiles:
    """The profiles of a run."""
    folder = profiles_folder(ctx, request.run)
    paths = profiles_in(folder.parent)
    return RunProfiles(
        profiles=[_listed(path) for path in paths[-MAX_PROFILES:]],
        omitted=max(0, len(paths) - MAX_PROFILES),
        waiting_s=waiting_s(folder),
        why_no_request=why_no_request(ctx, request.run),
    )


@route("POST", "/api/profile")
def profile(ctx: Context, request: ProfileRequest) -> ProfilePage:
    """One profile: its description, and the contents of each tab."""
    opened = profile_of(ctx, request.run, request.profile)
    rank = opened.rank(request.rank)
    tabs, damaged = opened.keep(("tabs", rank), lambda: _tabs(opened, rank))
    return ProfilePage(profile=_shown(opened.profile.meta, opened.profile), rank=rank, tabs=tabs, damaged=damaged)


@route("POST", "/api/profile/answer")
def profile_answer(ctx: Context, request: AnswerRequest) -> ProfileAnswer:
    """The result of one analysis of a profile."""
    opened = profile_of(ctx, request.run, request.profile)
    answer = opened.answer(request.analysis, opened.rank(request.rank))
    found = ProfileAnswer(id=request.analysis, kind=kind_of(answer), rows=size_of(answer))
    if isinstance(answer, Failed):
        found.why = answer.why
    elif isinstance(answer, Sheet):
        found.sheet = shown_sheet(answer)
    elif isinstance(answer, StepParts):
        found.parts = answer
    elif isinstance(answer, Curve):
        found.curve = answer
    return found


def _listed(path: Path) -> ShownProfile:
    """From its description alone: listing profiles opens none of them."""
    try:
        found = Profile.load(path)
        return _shown(found.meta, found)
    except StepscopeError as fault:
        return ShownProfile(id=path.name, error=str(fault))
    except OSError as fault:
        return ShownProfile(id=path.name, error=f"{path.name} cannot be read: {fault.strerror}")


def _shown(meta: ProfileMeta, found: Profile) -> ShownProfile:
    name = meta.id if found.folder is None else found.folder.name
    return ShownProfile(
        id=name,
        kind=meta.kind,
        created=meta.created,
        first_step=meta.first_step,
        last_step=meta.last_step,
        why=meta.why,
        host=meta.host,
        world=meta.world,
        ranks=found.ranks,
        kinds=sorted({file.kind for file in meta.files}),
        bytes=sum(file.bytes for file in meta.files),
        overhead=meta.overhead,
        notes=list(meta.notes),
    )


def _tabs(opened: OpenProfile, rank: int) -> tuple[list[ProfileTab], str]:
    """The contents of each tab, and why the events cannot be read: reported once, not per analysis."""
    from stepscope.profile.analyses.analysis import all_analyses

    trace = guarded("the timeline", lambda: opened.profile.trace(rank))
    damaged = trace.why if isinstance(trace, Failed) else ""
    offered: dict[str, list[OfferedAnswer]] = {view: [] for view in VIEWS}
    for one in in_order(all_analyses().values()):
        answer = opened.answer(one.id, rank)
        if answer is not None and not (damaged and isinstance(answer, Failed)):
            offered.setdefault(one.view, []).append(_offer(one.id, one.summary, answer))
    has_device = False
    if trace is not None and not isinstance(trace, Failed) and len(trace):
        has_device = trace.has_device
        offered["timeline"].append(OfferedAnswer("timeline", "Timeline", "", "trace", len(trace)))
    nothing = "The events of this rank cannot be read." if damaged else ""
    return [
        ProfileTab(id=view, answers=found, why="" if found else nothing or why_empty(view, opened.profile, has_device))
        for view, found in offered.items()
    ], damaged


def _offer(id: str, about: str, answer: Answer | Failed) -> OfferedAnswer:
    if isinstance(answer, Failed):
        return OfferedAnswer(id=id, title=id, about=about, kind="failed", size=0, why=answer.why)
    return OfferedAnswer(id=id, title=answer.title, about=about, kind=kind_of(answer), size=size_of(answer))
