"""What is wrong with a run, with the evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field

from stepscope.agents.tool import Answer, Limit, Offset, RunRef, tool
from stepscope.agents.tool_context import Desk
from stepscope.agents.words import block, code, name
from stepscope.views.findings import FindingsRequest, ShownFinding, SourceLine, findings

Severity = Annotated[
    Literal["", "error", "warning", "info"], Field(description="Only findings of this severity; empty for all.")
]


@tool("Findings of a run")
def get_findings(
    desk: Desk, run: RunRef = "last", severity: Severity = "", limit: Limit = 8, offset: Offset = 0
) -> Answer:
    """What Stepscope found wrong: rule, message, file and line, source excerpt, the numbers that prove it, and the fix.

    Most severe first. explain_rule describes a rule in detail.
    """
    found = findings(desk.ctx, FindingsRequest(run=desk.id_of(run)))
    chosen = [one for one in found.findings if not severity or one.severity == severity]
    shown = chosen[offset : offset + limit]
    if not shown:
        kind = f" of severity {severity}" if severity else ""
        words = f"Run {name(found.name)} has no findings{kind}{' there' if offset else ''}."
        if not found.findings:
            words += f" Checked: {', '.join(found.looked_at) or 'nothing'}."
            words += "" if found.watched else " It was not watched while training: `stepscope run` applies all rules."
        return Answer(words, {"run": found.run, "findings": [], "total": len(chosen)})
    lines = [f"{len(chosen)} findings of run {name(found.name)} ({found.run}), most severe first."]
    lines += [finding_text(one, place) for place, one in enumerate(shown, offset + 1)]
    if offset + len(shown) < len(chosen):
        lines.append(f"More: offset={offset + len(shown)}.")
    data = {"run": found.run, "findings": [finding_data(one) for one in shown], "total": len(chosen)}
    return Answer("\n\n".join(lines), data)


def finding_text(one: ShownFinding, place: int) -> str:
    """A finding for an agent: where, what, evidence, source, fix."""
    head = f"{place}. {one.severity}[{one.rule}] {name(one.message, 600)}"
    lines = [head]
    if where := _where(one):
        lines.append(where)
    if one.lines:
        lines.append(code(_numbered(one.lines), _line_of(one.place)))
    if one.changed:
        lines.append("The file was edited after the script started: these may not be the lines that ran.")
    if one.seen:
        lines.append(f"seen: {name(one.seen, 600)}")
    if one.evidence:
        evidence = [f"{name(key, 60)}={name(value, 300)}" for key, value in list(one.evidence.items())[:20]]
        lines.append("evidence: " + ", ".join(evidence))
    if one.fix:
        lines.append(f"fix: {name(one.fix, 600)}")
    for edit in one.edits[:4]:
        lines.append(f"edit {name(edit.label, 80)}:" if edit.label else "edit:")
        lines.append(block("patch", edit.patch))
    for other in one.related[:4]:
        lines.append(f"related, {name(other.label, 200)}: {name(other.place, 300)}")
        if other.lines:
            lines.append(code(_numbered(other.lines)))
    return "\n".join(lines)


def _where(one: ShownFinding) -> str:
    parts = [f"at {name(one.place, 300)}"] if one.place else []
    parts += [f"in {name(one.function)}"] if one.function else []
    parts += [f"step {one.step}"] if one.step is not None else []
    return " ".join(parts)


def _numbered(lines: Iterable[SourceLine]) -> list[tuple[int, str]]:
    return [(line.number, line.before + line.marked + line.after) for line in lines]


def _line_of(place: str) -> int | None:
    number = place.rpartition(":")[2]
    return int(number) if number.isdecimal() else None


def finding_data(one: ShownFinding) -> dict[str, Any]:
    return {
        "id": one.id,
        "rule": one.rule,
        "severity": one.severity,
        "message": one.message,
        "place": one.place,
        "function": one.function,
        "step": one.step,
        "seen": one.seen,
        "fix": one.fix,
        "evidence": one.evidence,
        "source": [[line.number, line.before + line.marked + line.after] for line in one.lines],
        "related": [{"place": other.place, "label": other.label} for other in one.related],
        "metrics": one.metrics,
        "edits": [{"label": edit.label, "patch": edit.patch} for edit in one.edits],
    }
