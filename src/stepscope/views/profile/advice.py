"""A profile's verdict: the bottleneck, and what to change.

Source lines come from the run folder alone (see findings.py): a profile may come from anywhere and name any file
on this machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from stepscope.records import Finding
from stepscope.views.context import Context
from stepscope.views.findings import ShownFinding, shown_findings
from stepscope.views.profile.open_profiles import Failed, OpenProfile, guarded, profile_of
from stepscope.views.profile.profile import ProfileRequest
from stepscope.views.route import route

if TYPE_CHECKING:
    from stepscope.profile.advice.verdict import Verdict


class ShownAdvice(msgspec.Struct):
    """One suggested change."""

    finding: ShownFinding
    gain: str
    """Its gain: measured if it was tried, else estimated."""
    share: float
    """The fraction of the step it affects, 0 to 1."""
    saving_ns: int
    how: str
    """The basis of the estimate."""
    shares_with: str
    """Earlier advice about the same part of the step; both together save less than their sum."""


class ProfileAdvice(msgspec.Struct):
    headline: str
    kind: str
    """The bottleneck: input, communication, copy, sync, launch, compute, optimizer, script; none."""
    step_ns: int
    saving_ns: int
    """The total savings as a fraction of a step; overlaps count once."""
    advice: list[ShownAdvice]
    notes: list[str]
    why: str = ""
    """Why there is no verdict: the recorded data cannot be read."""


@route("POST", "/api/profile/advice")
def profile_advice(ctx: Context, request: ProfileRequest) -> ProfileAdvice:
    """The verdict on a profile, as `stepscope profile` prints it."""
    opened = profile_of(ctx, request.run, request.profile)
    rank = opened.rank(request.rank)
    found = opened.keep(("verdict", rank), lambda: _verdict(opened, rank))
    if isinstance(found, Failed):
        return ProfileAdvice(headline="", kind="none", step_ns=0, saving_ns=0, advice=[], notes=[], why=found.why)
    run = ctx.runs.get(request.run)
    findings = _with_kept_source(found.findings, run.findings)
    shown = [shown_findings([one], run.meta.cwd)[0] for one in findings]  # one by one: in the advice's own order
    return ProfileAdvice(
        headline=found.headline.text,
        kind=found.headline.kind,
        step_ns=found.step_ns,
        saving_ns=found.saving_ns,
        advice=[_advice(one, finding, found.step_ns) for one, finding in zip(shown, findings, strict=True)],
        notes=list(found.notes),
    )


def _verdict(opened: OpenProfile, rank: int) -> Verdict | Failed:
    from stepscope.profile.advice.verdict import verdict

    return guarded("the verdict", lambda: verdict(opened.profile, rank))


def _with_kept_source(findings: list[Finding], kept: list[Finding]) -> list[Finding]:
    known = {(one.rule, one.file, one.line): one for one in kept}
    found = []
    for one in findings:
        same = known.get((one.rule, one.file, one.line))
        evidence = {
            **one.evidence,
            **({"measured": tried} if same and (tried := same.evidence.get("measured")) else {}),
        }
        source = same.source if same else []
        changed = bool(same and same.source_changed)
        found.append(replace(one, source=source, source_changed=changed, evidence=evidence))
    return found


def _advice(shown: ShownFinding, finding: Finding, step_ns: int) -> ShownAdvice:
    from stepscope.profile.advice.verdict import gain_in_words

    evidence = finding.evidence
    return ShownAdvice(
        finding=shown,
        gain=gain_in_words(evidence, step_ns),
        share=float(evidence.get("share", 0)),
        saving_ns=round(float(evidence.get("saving_ms", 0)) * 1e6),
        how=str(evidence.get("how", "")),
        shares_with=str(evidence.get("shares_with", "")),
    )
