"""A profile of the runs: the bottleneck and what to change, or one analysis as a table."""

from __future__ import annotations

from msgspec.structs import replace

from stepscope.common.units import listed
from stepscope.errors import UsageError
from stepscope.records.profile import Sheet
from stepscope.views.findings import RuleRequest
from stepscope.views.panels._public import short_places
from stepscope.views.profile.advice import ProfileAdvice, profile_advice
from stepscope.views.profile.profile import (
    AnswerRequest,
    ProfileAnswer,
    ProfilePage,
    ProfileRequest,
    ProfilesRequest,
    RunProfiles,
    ShownProfile,
    profile,
    profile_answer,
    profiles,
)
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures, markdown_text, told

MOST_RUNS = 4


class ProfileOptions(Options, kw_only=True):
    profile: str = ""
    """Its id; by default each run's newest."""
    analysis: str = ""
    """One analysis instead of the verdict and the advice."""
    rank: int | None = None
    rows: int = 20


def check(bound: Bound) -> None:
    found = [(run, id) for run in bound.runs[:MOST_RUNS] if (id := _profile(bound, run))]
    if not found:
        raise UsageError("the runs have no profile; take one with `stepscope profile train.py`")
    if bound.options.analysis:
        run, id = found[0]
        page = profile(bound.ctx, ProfileRequest(run=run, profile=id, rank=bound.options.rank))
        known = [one.id for tab in page.tabs for one in tab.answers]
        if bound.options.analysis not in known:
            raise UsageError(f"the profile has no analysis {bound.options.analysis!r}; it has {listed(known, 20)}")


def pack(bound: Bound, packing: Packing) -> None:
    options: ProfileOptions = bound.options
    for run in bound.runs[:MOST_RUNS]:
        packing.ask("POST /api/profiles", ProfilesRequest(run=run), _without_hosts)
        id = _profile(bound, run)
        if not id:
            continue
        request = ProfileRequest(run=run, profile=id, rank=options.rank)
        page = packing.ask("POST /api/profile", request, _page_without_host)
        if options.analysis:
            _pack_answer(bound, packing, run, id, options.analysis)
            continue
        advice = packing.ask("POST /api/profile/advice", request, _without_folders)
        for one in advice.advice if advice is not None else []:
            packing.ask("POST /api/rule", RuleRequest(rule=one.finding.rule), needed=False)
        first = _first_parts(page) if page is not None else None
        if first is not None:
            _pack_answer(bound, packing, run, id, first)


def _pack_answer(bound: Bound, packing: Packing, run: str, id: str, analysis: str) -> None:
    request = AnswerRequest(run=run, profile=id, analysis=analysis, rank=bound.options.rank)
    packing.ask("POST /api/profile/answer", request, lambda answer: _fewer_rows(answer, max(200, bound.options.rows)))


def write(bound: Bound, out: Pictures) -> str:
    parts = []
    for entry in bound.entries[:MOST_RUNS]:
        id = _profile(bound, entry.id)
        if id:
            title = f"**{markdown_text(entry.name)}**\n\n" if len(bound.entries) > 1 else ""
            parts.append(title + _told(bound, entry.id, id, out))
    return "\n".join(parts)


def _told(bound: Bound, run: str, id: str, out: Pictures) -> str:
    options: ProfileOptions = bound.options
    if options.analysis:
        request = AnswerRequest(run=run, profile=id, analysis=options.analysis, rank=options.rank)
        sheet = profile_answer(bound.ctx, request).sheet
        return _sheet(sheet, options.rows, out) if sheet is not None else "*This analysis has no table.*\n"
    found = profile_advice(bound.ctx, ProfileRequest(run=run, profile=id, rank=options.rank))
    if found.why:
        return f"*{markdown_text(found.why)}*\n"
    lines = [f"{told(found.headline)}\n"]
    for one in found.advice:
        gain = f" ({markdown_text(one.gain)})" if one.gain else ""
        lines.append(f"- **{told(one.finding.message)}**{gain}: {told(one.finding.fix)}")
    return "\n".join(lines) + "\n"


def _sheet(sheet: Sheet, most: int, out: Pictures) -> str:
    from stepscope.profile.show import cell_text, sorted_rows

    shown = sorted_rows(sheet)
    places = [at for at, column in enumerate(shown.columns) if not column.hidden]
    columns = [shown.columns[at] for at in places]
    rows = [[cell_text(row[at], shown.columns[at].unit) for at in places] for row in shown.rows[: max(1, most)]]
    numbers = {at for at, column in enumerate(columns) if column.unit not in ("text", "line", "flag")}
    return f"**{markdown_text(shown.title)}**\n\n" + out.table([column.label for column in columns], rows, numbers)


def _profile(bound: Bound, run: str) -> str | None:
    found = [one for one in profiles(bound.ctx, ProfilesRequest(run=run)).profiles if one.error is None]
    wanted = bound.options.profile
    if wanted:
        return next((one.id for one in found if one.id == wanted), None)
    return found[-1].id if found else None


def _first_parts(page: ProfilePage) -> str | None:
    for tab in page.tabs:
        if tab.id == "overview":
            return next((one.id for one in tab.answers if one.kind == "parts"), None)
    return None


def _without_hosts(found: RunProfiles) -> RunProfiles:
    return replace(found, profiles=[_hostless(one) for one in found.profiles], waiting_s=None, why_no_request="")


def _page_without_host(page: ProfilePage) -> ProfilePage:
    return replace(page, profile=_hostless(page.profile))


def _hostless(one: ShownProfile) -> ShownProfile:
    return replace(one, host="")


def _without_folders(found: ProfileAdvice) -> ProfileAdvice:
    return replace(found, advice=[replace(one, finding=short_places(one.finding)) for one in found.advice])


def _fewer_rows(answer: ProfileAnswer, most: int) -> ProfileAnswer:
    if answer.sheet is None or len(answer.sheet.rows) <= most:
        return answer
    return replace(
        answer, sheet=replace(answer.sheet, rows=answer.sheet.rows[:most], levels=answer.sheet.levels[:most])
    )


PANEL = PanelKind("profile", "Where the time goes, and what to change", ProfileOptions, pack, write, check)
