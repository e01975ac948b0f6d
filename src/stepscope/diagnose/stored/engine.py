"""Asks the rules for stored runs, and says what they looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.diagnose.inquiry import Inquiry
from stepscope.diagnose.rule import Proof, Rule, rules_for
from stepscope.diagnose.stored.stored_evidence import ask_kept
from stepscope.diagnose.stored.stored_run import StoredRun
from stepscope.records import Finding

if TYPE_CHECKING:
    from stepscope.diagnose.settings import Settings
    from stepscope.runs.read.folder import RunFolder


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with a stored run, and what was looked at."""

    findings: list[Finding]
    """Those that were found while it ran, then those found in its folder."""
    stored: list[Finding]
    """Found in its folder only."""
    looked_at: list[str]
    """In words: "12 losses and metrics", "the console" ..."""
    watched: bool
    """Whether rules watched the script while it ran."""
    asked: int = 0
    """How many rules were asked again of what was seen while it ran."""
    problems: tuple[str, ...] = ()
    """What of that could not be read."""


class FolderInquiry(Inquiry):
    """Asks rules of a run's folder. Files of this machine are not opened: a run may come from anywhere."""

    def __init__(self, run: StoredRun, settings: Settings | None = None, needs: str = "stored") -> None:
        super().__init__(run, rules_for(needs).values(), settings=settings)
        self.run = run

    def finding(self, rule: Rule, proof: Proof) -> Finding:
        return _finding(rule, proof, self.run)


def diagnose_run(folder: RunFolder, settings: Settings | None = None) -> Diagnosis:
    """Ask every rule for stored runs about this one."""
    run = StoredRun(folder)
    again = ask_kept(folder.path, settings)
    known = {(finding.rule, finding.file, finding.line) for finding in folder.findings}
    stored = [finding for finding in again.findings if (finding.rule, finding.file, finding.line) not in known]
    run.found += [finding.rule for finding in (*folder.findings, *stored)]
    inquiry = FolderInquiry(run, settings)
    inquiry.ask("stored")
    stored += [one for one in inquiry.findings if (one.rule, one.file, one.line) not in known]
    looked_at = [*_looked_at(run), *([f"what was seen while it ran (by {again.rules} rules)"] if again.rules else [])]
    kept = again.rules > 0 or bool(again.problems)  # problems: it is there, but not readable
    watched = folder.coverage is not None or bool(folder.findings) or kept
    return Diagnosis([*folder.findings, *stored], stored, looked_at, watched, again.rules, tuple(again.problems))


def judge_curves(folder: RunFolder, settings: Settings, found: Iterable[str]) -> list[Finding]:
    """What the curves of a run that has just ended show, beyond what the rules `found` while it ran."""
    run = StoredRun(folder)
    run.found += found
    inquiry = FolderInquiry(run, settings, needs="curves")
    inquiry.ask("curves")
    return inquiry.findings


def _finding(rule: Rule, proof: Proof, run: StoredRun) -> Finding:
    file, line = proof.where if isinstance(proof.where, tuple) else (None, None)
    code = str(proof.evidence.get("code", "")) if rule.id == "run.crashed" else ""
    return Finding(
        rule=rule.id,
        severity=proof.severity or rule.severity,
        message=proof.message,
        file=file if isinstance(file, str) else None,
        line=line,
        evidence=proof.evidence,
        label=proof.label,
        fix=proof.fix,
        step=proof.evidence.get("step", run.last_step),
        source=[(line, code)] if code and isinstance(line, int) else [],
    )


def _looked_at(run: StoredRun) -> list[str]:
    """What there was to look at, in words."""
    series, system = len(run.looked_at), sum(name.startswith("system/") for name in run.names)
    found = [f"{series} {'loss or metric' if series == 1 else 'losses and metrics'}"] if series else []
    found += ["the console"] if run.console else []
    found += ["the traceback"] if run.traceback else []
    found += ["the config"] if run.config else []
    found += ["the system metrics"] if system else []
    return found
