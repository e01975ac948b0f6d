"""Asks every piece of advice and makes findings of the tips: largest saving first, and nothing promised twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from stepscope import fence
from stepscope.diagnose.excerpt import with_source
from stepscope.diagnose.settings import Settings
from stepscope.profile.advice.advice import Advice, Tip, all_advice
from stepscope.profile.advice.measured import Measured
from stepscope.records import Finding

__all__ = ["SMALLEST", "Advised", "advise", "finding_of"]

SMALLEST = 0.02
"""A tip that would save less of the step than this is not worth a line."""


@dataclass(frozen=True)
class Advised:
    """A tip with the advice it came from."""

    advice: Advice
    tip: Tip
    counted_ns: int
    """What it saves beyond the tips before it."""
    shares_with: str = ""
    """The id of an earlier tip about the same part of the step: what both save is less than their sum."""


def advise(run: Measured, settings: Settings | None = None) -> list[Advised]:
    """All tips worth giving, largest saving first."""
    found: list[tuple[Advice, Tip]] = []
    for advice in all_advice().values():
        if settings is not None and not settings.is_wanted(advice.id):
            continue
        if not suits(advice.device, run.kind):
            continue
        for tip in fence.fenced(f"the advice {advice.id}", ())(lambda check=advice.check: list(check(run)))():
            capped = replace(tip, saving_ns=max(0, min(tip.saving_ns, run.step_ns)))
            if _worth(capped, run) and not (
                settings is not None and settings.is_silenced(finding_of(advice, capped, run))
            ):
                found.append((advice, capped))
    found.sort(key=lambda one: (-one[1].saving_ns, one[0].id))
    return _without_promising_twice(found, run)


def suits(wanted: str, kind: str) -> bool:
    """Whether advice for a device is for this one.

    >>> suits("gpu", "rocm"), suits("cuda", "rocm"), suits("cpu", "cuda"), suits("any", "mps")
    (True, False, False, True)
    """
    return wanted == "any" or wanted == kind or (wanted == "gpu" and kind != "cpu")


def _worth(tip: Tip, run: Measured) -> bool:
    if tip.saving_ns == 0:  # a note without a figure: about memory, or other ranks
        return tip.severity is not None or tip.share >= SMALLEST
    return run.share(tip.saving_ns) >= SMALLEST


def _without_promising_twice(found: list[tuple[Advice, Tip]], run: Measured) -> list[Advised]:
    left: dict[str, int] = {}
    owner: dict[str, str] = {}
    left_of_step = run.step_ns
    advised = []
    for advice, tip in found:
        part = tip.part or advice.id
        room = left.setdefault(part, max(int(tip.share * run.step_ns), tip.saving_ns))
        counted = min(tip.saving_ns, room, left_of_step)
        left[part] -= counted
        left_of_step -= counted
        advised.append(Advised(advice, tip, counted, owner.get(part, "")))
        owner.setdefault(part, advice.id)
    return advised


def finding_of(advice: Advice, tip: Tip, run: Measured, shares_with: str = "") -> Finding:
    """The tip in the format of all findings, with the lines of source around it."""
    evidence: dict[str, Any] = {"share": round(tip.share, 3), **tip.evidence}
    if tip.saving_ns:
        evidence |= {"saving_ms": round(tip.saving_ns / 1e6, 3), "saving_share": round(run.share(tip.saving_ns), 3)}
    if tip.how:
        evidence["how"] = tip.how
    if shares_with:
        evidence["shares_with"] = shares_with
    finding = Finding(
        rule=advice.id,
        severity=tip.severity or (advice.severity if tip.saving_ns else "info"),
        message=tip.message,
        file=tip.where[0] if tip.where else None,
        line=tip.where[1] if tip.where else None,
        evidence=evidence,
        fix=tip.fix,
        label=_label(tip, run),
    )
    return with_source(finding)


def _label(tip: Tip, run: Measured) -> str:
    share = f"{tip.share:.0%} of each step"
    return f"{share}; saves about {in_words(tip.saving_ns)}" if tip.saving_ns else share


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
