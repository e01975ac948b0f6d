"""Asks the rules over profiles and orders their tips: largest saving first, and nothing promised twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace as with_fields

from stepscope.diagnose.excerpt import with_source
from stepscope.diagnose.inquiry import Inquiry
from stepscope.diagnose.rule import Proof, Rule, finding_of, rules_for
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip
from stepscope.profile.advice.tried import gain_range, trial_of
from stepscope.records import Finding

if TYPE_CHECKING:
    from stepscope.diagnose.inquiry import Silencer

SMALLEST = 0.02
"""A tip that would save less of the step than this is not worth a line."""


@dataclass(frozen=True)
class Advised:
    """A tip and its finding."""

    finding: Finding
    tip: Tip
    counted_ns: int
    """What it saves beyond the tips before it."""


class ProfileInquiry(Inquiry):
    """Asks rules of what was measured in one rank of a profile."""

    def __init__(self, run: Measured, settings: Silencer | None = None) -> None:
        super().__init__(run, rules_for("profile").values(), settings=settings)
        self.run = run

    def suits(self, rule: Rule) -> bool:
        return is_for(rule.device, self.run.kind)

    def finding(self, rule: Rule, proof: Proof) -> Finding | None:
        """The tip as a finding, with the lines of source around it."""
        run, tip = self.run, _capped(proof, self.run)
        if not _worth(tip, run):
            return None
        found = finding_of(rule.id, rule.severity if tip.saving_ns else "info", tip)
        return with_source(with_fields(found, evidence=_evidence(tip, run), label=_label(tip, run)))


def advise(run: Measured, settings: Silencer | None = None) -> list[Advised]:
    """All tips worth giving, largest saving first."""
    inquiry = ProfileInquiry(run, settings)
    inquiry.ask("profile")
    tips = [_capped(proof, run) for proof in inquiry.proofs]
    found = [_as_tried(finding, tip, run) for finding, tip in zip(inquiry.findings, tips, strict=True)]
    kept = sorted((one for one in found if one is not None), key=lambda one: (-one[1].saving_ns, one[0].rule))
    kept = _without_lines_that_are_explained(kept)
    return _without_promising_twice(kept, run)


def _as_tried(finding: Finding, tip: Tip, run: Measured) -> tuple[Finding, Tip] | None:
    """The advice with what its trial measured; None where the trial contradicts it: then it is withdrawn."""
    trial = trial_of(run.facts.get("trials", []), finding.rule, tip)
    if trial is None or (trial.gain >= 1 + SMALLEST and not trial.is_clear):
        return finding, tip
    if trial.gain < 1 + SMALLEST:  # also where the rounds do not agree: what was measured is not a gain
        run.withdrawn.append(f"{tip.fix.split(' (')[0]}: {trial.gain:.2f}x when tried on {trial.steps} steps")
        return None
    tip = replace(tip, saving_ns=int(run.step_ns * (1 - 1 / trial.gain)), at_most=False)
    evidence = {**_evidence(tip, run), "basis": "measured", "measured": trial.as_dict()}
    evidence["gain_range"] = [round(trial.low, 3), round(trial.high, 3)]
    return with_fields(finding, evidence=evidence, label=_label(tip, run)), tip


def is_for(wanted: str, kind: str) -> bool:
    """Whether a rule for a device is for this one.

    >>> is_for("gpu", "rocm"), is_for("cuda", "rocm"), is_for("cpu", "cuda"), is_for("any", "mps")
    (True, False, False, True)
    """
    return wanted == "any" or wanted == kind or (wanted == "gpu" and kind != "cpu")


def _capped(proof: Proof | None, run: Measured) -> Tip:
    tip = cast(Tip, proof)
    return replace(tip, saving_ns=max(0, min(tip.saving_ns, run.step_ns)))


def _worth(tip: Tip, run: Measured) -> bool:
    if tip.saving_ns == 0:  # a note without a figure: about memory, or other ranks
        return tip.severity is not None or tip.share >= SMALLEST
    return run.share(tip.saving_ns) >= SMALLEST


def _without_lines_that_are_explained(found: list[tuple[Finding, Tip]]) -> list[tuple[Finding, Tip]]:
    """A line that only takes long is not named again where another tip says why."""
    explained = {(one.file, one.line) for one, tip in found if not tip.at_most}
    return [
        (one, tip)
        for one, tip in found
        if not tip.at_most or tip.where is None or (one.file, one.line) not in explained
    ]


def _without_promising_twice(found: list[tuple[Finding, Tip]], run: Measured) -> list[Advised]:
    left: dict[str, int] = {}
    owner: dict[str, str] = {}
    left_of_step = run.step_ns
    advised = []
    for finding, tip in found:
        part = tip.part or finding.rule
        room = left.setdefault(part, max(int(tip.share * run.step_ns), tip.saving_ns))
        counted = 0 if tip.at_most else min(tip.saving_ns, room, left_of_step)
        left[part] -= counted
        left_of_step -= counted
        if part in owner:  # what both save is less than their sum
            finding = with_fields(finding, evidence={**finding.evidence, "shares_with": owner[part]})
        advised.append(Advised(finding, tip, counted))
        owner.setdefault(part, finding.rule)
    return advised


def _evidence(tip: Tip, run: Measured) -> dict[str, Any]:
    evidence: dict[str, Any] = {"share": round(tip.share, 3), **tip.evidence}
    if tip.saving_ns:
        evidence |= {"saving_ms": round(tip.saving_ns / 1e6, 3), "saving_share": round(run.share(tip.saving_ns), 3)}
        evidence |= _basis(tip, run)
    return {**evidence, "how": tip.how} if tip.how else evidence


def _basis(tip: Tip, run: Measured) -> dict[str, Any]:
    """Where the figure comes from, and between which factors the gain lies."""
    if tip.at_most:
        highest = run.step_ns / max(run.step_ns - tip.saving_ns, run.step_ns / 20)
        way = tip.evidence.get("try_with") or ("stepscope profile --try" if tip.trial is not None else "")
        return {"basis": "bound", "gain_range": [1.0, round(highest, 3)], "try_with": way}
    return {"basis": "estimated", "gain_range": gain_range(tip.saving_ns, tip.share, run.step_ns)}


def _label(tip: Tip, run: Measured) -> str:
    share = f"{tip.share:.0%} of each step"
    how = "at most" if tip.at_most else "about"
    return f"{share}; saves {how} {in_words(tip.saving_ns)}" if tip.saving_ns else share


def in_words(nanoseconds: float) -> str:
    """A time a person can read.

    >>> in_words(41_000_000), in_words(1_234_000), in_words(870_000), in_words(2_500_000_000)
    ('41 ms', '1.2 ms', '0.87 ms', '2.5 s')
    """
    milliseconds = nanoseconds / 1e6
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f} s"
    if milliseconds >= 9.95:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds:.1f} ms" if milliseconds >= 1 else f"{milliseconds:.2g} ms"
