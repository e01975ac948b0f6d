"""Findings as the run's page shows them, and the rules behind them.

Only source stored in the run folder is shown: a run may come from anywhere and name any file on this machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from stepscope.diagnose.catalogue import asked_when, rule_doc
from stepscope.diagnose.edits.apply import diff_lines, patch_text
from stepscope.diagnose.evidence_words import evidence_words
from stepscope.diagnose.excerpt import code_span
from stepscope.diagnose.show import place_of
from stepscope.records import Edit, Finding, Severity
from stepscope.views.context import Context
from stepscope.views.diagnosis import diagnosis_of
from stepscope.views.finding_evidence import EvidenceSeries, TellingMetrics, evidence_series, metrics_shown
from stepscope.views.plain import plain
from stepscope.views.route import route

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder

MAX_FINDINGS = 500
_ORDER: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}


class SourceLine(msgspec.Struct):
    """A line of source; `marked` is the part the finding is about."""

    number: int
    before: str
    marked: str = ""
    after: str = ""


class ShownPlace(msgspec.Struct):
    """Another location that belongs to a finding."""

    place: str
    label: str
    lines: list[SourceLine]


class ShownEdit(msgspec.Struct):
    """A fix as a small diff."""

    label: str
    """What it tries, if there are several."""
    lines: list[tuple[str, str]]
    """`-` and a removed line, `+` and an added one, `@` and the location of those that follow."""
    patch: str
    """For `git apply --unidiff-zero`."""


class ShownFinding(msgspec.Struct):
    """Something wrong with the run."""

    rule: str
    severity: Severity
    message: str
    place: str
    """`train.py:88`, relative to the script's working folder; empty if it has none."""
    function: str
    step: int | None
    seen: str
    """The evidence, in a few words."""
    fix: str
    lines: list[SourceLine]
    related: list[ShownPlace]
    changed: bool
    """The file was edited after the script started."""
    evidence: dict[str, Any]
    id: str = ""
    """`opt.no-zero-grad:2`, the second finding of its rule: stable for the lifetime of the run."""
    series: list[EvidenceSeries] = []
    """The numbers of the evidence that can be drawn."""
    metrics: list[str] = []
    """Series of the run that show it; the finding's step is marked there."""
    edits: list[ShownEdit] = []
    """The fix as a text change; several if only a trial can tell the right value."""


class FindingsRequest(msgspec.Struct):
    run: str


class RunFindings(msgspec.Struct):
    """The findings of a run and nothing else, for reports shared with others."""

    run: str
    name: str
    findings: list[ShownFinding]
    """Most severe first."""
    watched: bool = False
    """Whether rules watched the script while it ran."""
    looked_at: list[str] = []
    """Which parts of the run's folder were checked, in words."""


class RuleRequest(msgspec.Struct):
    rule: str


class RuleDetail(msgspec.Struct):
    """A rule's documentation."""

    id: str
    severity: Severity
    summary: str
    about: str
    why: str
    fix: str
    how: str
    bad: str
    good: str
    asked: str
    """When it runs, and on what data."""


@route("POST", "/api/findings")
def findings(ctx: Context, request: FindingsRequest) -> RunFindings:
    """The findings of a run, without the rest of its page."""
    folder = ctx.runs.get(request.run)
    found = diagnosis_of(folder)
    return RunFindings(
        run=folder.id,
        name=folder.name,
        findings=findings_of(folder),
        watched=found.watched,
        looked_at=found.looked_at,
    )


@route("POST", "/api/rule")
def rule(ctx: Context, request: RuleRequest) -> RuleDetail:
    """Everything about a rule; the same text as `stepscope explain`."""
    doc = rule_doc(request.rule)
    text = doc.text
    return RuleDetail(
        id=doc.id,
        severity=doc.severity,
        summary=text.summary,
        about=text.about,
        why=text.why,
        fix=text.fix,
        how=text.how,
        bad=text.bad,
        good=text.good,
        asked=asked_when(doc),
    )


def findings_of(folder: RunFolder) -> list[ShownFinding]:
    """All findings of a run: those from while it ran, and those in its folder."""
    return shown_findings(diagnosis_of(folder).findings[-MAX_FINDINGS:], folder.meta.cwd, folder.metrics())


def shown_findings(findings: Iterable[Finding], cwd: str, metrics: Sequence[str] = ()) -> list[ShownFinding]:
    """Most severe first, then in the order found; `metrics` names the run's series."""
    told: Counter[str] = Counter()
    telling = TellingMetrics.among(metrics)
    shown = []
    for one in findings:
        told[one.rule] += 1
        shown.append(_shown(one, Path(cwd or "/"), f"{one.rule}:{told[one.rule]}", telling))
    return sorted(shown, key=lambda one: _ORDER[one.severity])


def _shown(one: Finding, root: Path, id: str, telling: TellingMetrics) -> ShownFinding:
    region = (one.column, one.end_column)
    return ShownFinding(
        rule=one.rule,
        severity=one.severity,
        message=one.message,
        place=place_of(one.file, one.line, root) if one.file else "",
        function=one.function,
        step=one.step,
        seen=one.label or evidence_words(one.evidence),
        fix=one.fix,
        lines=_lines(one.source, one.line, region),
        related=[
            ShownPlace(place_of(other.file, other.line, root), other.label, _lines(other.source, other.line))
            for other in one.related
        ],
        changed=one.source_changed,
        evidence=plain(one.evidence),
        id=id,
        series=evidence_series(one.evidence),
        metrics=metrics_shown(one.rule, one.evidence, telling),
        edits=[_edit(edit, root) for edit in one.edits],
    )


def _edit(edit: Edit, root: Path) -> ShownEdit:
    return ShownEdit(edit.label, diff_lines(edit), patch_text(edit, lambda file: place_of(file, None, root)))


def _lines(
    source: Iterable[tuple[int, str]], line: int | None, region: tuple[int | None, int | None] = (None, None)
) -> list[SourceLine]:
    """The source lines, with the one in question split at the marked part."""
    found = []
    for number, text in source:
        first, last = code_span(text, *region) if number == line else (len(text), len(text))
        found.append(SourceLine(number, text[:first], text[first:last], text[last:]))
    return found
