"""Where the time goes."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from pydantic import Field

from stepscope.agents.tool import Answer, RunRef, tool
from stepscope.agents.tool_context import Desk
from stepscope.agents.words import block, name
from stepscope.errors import NotFound
from stepscope.profile.show import parts_text, sheet_text
from stepscope.views.profile.advice import ProfileAdvice, profile_advice
from stepscope.views.profile.profile import (
    AnswerRequest,
    ProfilePage,
    ProfileRequest,
    ProfilesRequest,
    profile,
    profile_answer,
    profiles,
)

Analysis = Annotated[
    str, Field(description="Empty for the verdict, the phases and the advice; or one of the analyses listed there.")
]
ProfileId = Annotated[str, Field(description="Which of the run's profiles; empty for the newest.")]
Rows = Annotated[int, Field(ge=1, le=100, description="Rows of each table.")]


@tool("Profile of a run")
def get_profile(
    desk: Desk, run: RunRef = "last", profile_id: ProfileId = "", analysis: Analysis = "", rows: Rows = 12
) -> Answer:
    """Where a step's time and memory go: the bottleneck, the phases, and what to change.

    With an analysis: its table (operators, source lines, kernels, layers, data loading, memory …).
    """
    folder = desk.open(run)
    id = _chosen(desk, folder.id, profile_id)
    request = ProfileRequest(run=folder.id, profile=id)
    head = f"Run {name(folder.name)} ({folder.id}), profile {name(id)}"
    if analysis:
        text, table = _answer(desk, request, analysis, rows)
        return Answer(f"{head}\n{text}", {"run": folder.id, "profile": id, "analysis": analysis, **table})
    page = profile(desk.ctx, request)
    told = profile_advice(desk.ctx, request)
    offered = [one.id for tab in page.tabs for one in tab.answers if one.kind in ("sheet", "parts")]
    phases, phase_data = _phases(desk, request, page)
    parts = [head + _about(page), _verdict(told), phases, _advice(told)]
    parts.append("analyses: " + ", ".join(offered) if offered else "")
    data: dict[str, Any] = {"run": folder.id, "profile": id, "headline": told.headline, **phase_data}
    data.update(bound_by=told.kind, step_ns=told.step_ns)
    data["advice"] = [_advice_data(one) for one in told.advice]
    return Answer("\n\n".join(part for part in parts if part), {**data, "analyses": offered})


def _chosen(desk: Desk, run: str, wanted: str) -> str:
    found = profiles(desk.ctx, ProfilesRequest(run=run)).profiles
    good = [one.id for one in found if one.error is None]
    if wanted and wanted in good:
        return wanted
    if wanted:
        raise NotFound(f"the run has no profile {wanted[:100]!r}; it has {', '.join(good) or 'none'}")
    if not good:
        broken = f" ({found[-1].error})" if found else ""
        raise NotFound(f"the run has no profile{broken}; take one with `stepscope profile train.py`")
    return good[-1]


def _about(page: ProfilePage) -> str:
    one = page.profile
    steps = f", steps {one.first_step} to {one.last_step}" if one.first_step is not None else ""
    return f": {one.kind}{steps}{f', {name(one.why)}' if one.why else ''}"


def _verdict(told: ProfileAdvice) -> str:
    return name(told.why or told.headline, 600)


def _advice(told: ProfileAdvice) -> str:
    lines = []
    for place, one in enumerate(told.advice[:8], 1):
        shown = one.finding
        where = f" at {name(shown.place)}" if shown.place else ""
        gain = f" ({name(one.gain)})" if one.gain else ""
        lines.append(f"{place}. [{shown.rule}]{where} {name(shown.message, 300)}: {name(shown.fix, 300)}{gain}")
    return "What to change:\n" + "\n".join(lines) if lines else ""


def _advice_data(one: Any) -> dict[str, Any]:
    shown = one.finding
    return {
        "rule": shown.rule,
        "place": shown.place,
        "message": shown.message,
        "fix": shown.fix,
        "gain": one.gain,
        "share": one.share,
    }


def _phases(desk: Desk, request: ProfileRequest, page: ProfilePage) -> tuple[str, dict[str, Any]]:
    first = next((one.id for tab in page.tabs for one in tab.answers if one.kind == "parts"), None)
    return _answer(desk, request, first, 12) if first else ("", {})


def _answer(desk: Desk, request: ProfileRequest, analysis: str, rows: int) -> tuple[str, dict[str, Any]]:
    asked = AnswerRequest(run=request.run, profile=request.profile, analysis=analysis)
    found = profile_answer(desk.ctx, asked)
    if found.sheet is not None:
        sheet = found.sheet
        heads = [column.key for column in sheet.columns]
        data = {"columns": heads, "rows": sheet.rows[:rows], "total_rows": found.rows}
        return block("profile", sheet_text(sheet, width=160, most=rows), 10_000), data
    if found.parts is not None:
        return block("profile", parts_text(found.parts), 6000), {"parts": msgspec.to_builtins(found.parts)}
    return name(found.why or "this analysis has no table; the browser shows it", 400), {}
