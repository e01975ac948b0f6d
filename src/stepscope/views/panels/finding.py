"""The runs' findings: message, location, evidence and fix."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from stepscope.common.units import listed
from stepscope.errors import UsageError
from stepscope.plain_text import clean
from stepscope.report.text import fence
from stepscope.views.findings import FindingsRequest, RuleRequest, RunFindings, ShownFinding, findings
from stepscope.views.panels._public import short_place, short_places
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures, markdown_text, told

_MARKS = {"error": "🛑", "warning": "⚠️", "info": "ℹ️"}
_MOST = 20


class FindingOptions(Options, kw_only=True):
    rule: str = ""
    """Only findings of this rule, or one finding by its id (`opt.no-zero-grad:1`)."""
    severity: Literal["error", "warning", "info"] | None = None


def check(bound: Bound) -> None:
    rule = bound.options.rule
    if rule and not any(_chosen(bound, run) for run in bound.runs):
        known = {one.rule for run in bound.runs for one in findings(bound.ctx, FindingsRequest(run=run)).findings}
        have = f"they have {listed(sorted(known))}" if known else "they have no findings"
        raise UsageError(f"none of the runs has a finding {rule!r}; {have}")


def pack(bound: Bound, packing: Packing) -> None:
    for run in bound.runs:
        found = packing.ask("POST /api/findings", FindingsRequest(run=run), _without_folders)
        for finding in found.findings if found else []:
            packing.ask("POST /api/rule", RuleRequest(rule=finding.rule), needed=False)
            for key in finding.metrics:
                packing.line(run, key)


def write(bound: Bound, out: Pictures) -> str:
    parts = []
    for entry in bound.entries:
        chosen = _chosen(bound, entry.id)
        parts += [_told(one, entry.name if len(bound.entries) > 1 else "") for one in chosen[:_MOST]]
    return "\n".join(parts) if parts else "*No findings.*\n"


def _chosen(bound: Bound, run: str) -> list[ShownFinding]:
    rule, severity = bound.options.rule, bound.options.severity
    return [
        one
        for one in findings(bound.ctx, FindingsRequest(run=run)).findings
        if (not rule or rule in (one.rule, one.id)) and (severity is None or one.severity == severity)
    ]


def _without_folders(found: RunFindings) -> RunFindings:
    """Paths inside the script's folder are shown relative to it; of any other file only the name is."""
    return replace(found, findings=[short_places(one) for one in found.findings])


def _told(one: ShownFinding, run: str) -> str:
    place = short_place(one.place)
    head = f"{_MARKS[one.severity]} **{told(one.message)}** `{clean(one.rule).replace('`', '')}`"
    where = " · ".join(part for part in (run, place, f"step {one.step}" if one.step is not None else "") if part)
    parts = [head + (f"\n\n{markdown_text(where)}" if where else "")]
    if one.lines:
        code = "\n".join(clean(f"{line.number:>5}  {line.before}{line.marked}{line.after}") for line in one.lines)
        mark = fence(code)
        parts.append(f"{mark}python\n{code}\n{mark}")
    if one.seen:
        parts.append(f"Seen: {told(one.seen)}")
    if one.fix:
        parts.append(f"Fix: {told(one.fix)}")
    return "\n\n".join(parts) + "\n"


PANEL = PanelKind("finding", "What is wrong with the runs, and how to fix it", FindingOptions, pack, write, check)
