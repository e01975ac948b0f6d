"""The engine: asks the rules at the right moments and turns their proofs into findings, each once."""

from __future__ import annotations

import fnmatch
import os
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from stepscope import fence
from stepscope.diagnose.evidence import Evidence, NotSeen
from stepscope.diagnose.order import causes_first
from stepscope.diagnose.rule import Proof, Rule, all_rules, running_rules
from stepscope.records import Finding, Related, Severity
from stepscope.records.place import Place
from stepscope.records.step import Site

__all__ = ["Engine", "Silencer"]

_ASKED_AT = frozenset((3, 8, 20, 50))
"""Steps at which rules are asked while a window of close looking is open; they are asked again when it ends."""
_MOST_OF_A_RULE = 5


class Silencer(Protocol):
    """Whether the user wants to hear of a finding (settings, options, comments)."""

    def is_wanted(self, rule: str) -> bool: ...
    def is_silenced(self, finding: Finding) -> bool: ...
    def with_severity(self, finding: Finding) -> Finding: ...


class Engine:
    """Asks rules and keeps what they found.

    engine = Engine(Evidence.of(watcher), on_finding=print)
    watcher.on_moment = engine.moment
    """

    def __init__(
        self,
        evidence: Evidence,
        *,
        settings: Silencer | None = None,
        on_finding: Callable[[Finding], None] | None = None,
        rules: Iterable[Rule] | None = None,
    ) -> None:
        self.evidence = evidence
        self.findings: list[Finding] = []
        self._settings = settings
        self._on_finding = on_finding
        self._all = None if rules is None else self._wanted(rules)
        self._running = self._wanted(running_rules().values()) if self._all is None else self._all
        self._known: set[tuple[str, str | None, int | None]] = set()
        self._faulty: set[str] = set()
        self.not_seen: dict[str, str] = {}
        """Rules that could not be asked: the evidence has no such table."""
        self._read_source = False
        self._began = time.time()

    @property
    def rules(self) -> list[Rule]:
        """All rules that are asked, also those for a crash: causes before what they explain."""
        if self._all is None:
            self._all = self._wanted(all_rules().values())
        return self._all

    def _wanted(self, rules: Iterable[Rule]) -> list[Rule]:
        settings = self._settings
        return causes_first([rule for rule in rules if settings is None or settings.is_wanted(rule.id)])

    def moment(self, kind: str) -> None:
        """Something happened: "step", "window" (a stretch of close looking is over) or "epoch"."""
        step = self.evidence.course.step
        if kind == "step" and step not in _ASKED_AT:
            return
        self.evidence.settle()
        self._ask("steps")
        if not self._read_source and step >= 2:
            self._read_source = True
            self._ask("source")

    def finish(self) -> list[Finding]:
        """The script has ended by itself: ask everything once more."""
        self.evidence.course.over = True
        self.evidence.settle()
        self.evidence.experiment()
        self._ask("steps")
        self._ask("end")
        if not self._read_source:
            self._read_source = True
            self._ask("source")
        return self.findings

    def crashed(self, error: BaseException) -> list[Finding]:
        """An exception has ended the script. Gives the findings that explain it."""
        before = len(self.findings)
        self.evidence.course.over = True
        self.evidence.settle()
        self.evidence.observe_crash(error)
        if self.evidence.crash is not None:
            self._ask("crash")
        explained = self.findings[before:]
        self._ask("steps")
        if not explained:
            self._ask("source")
        return explained

    def ask_again(self) -> None:
        """Ask all rules of evidence that is complete: what a run has kept."""
        evidence = self.evidence
        if evidence.crash is None or evidence.course.step >= min(_ASKED_AT):
            self._ask("steps")
            self._ask("source")
        before = len(self.findings)
        if evidence.crash is not None:
            self._ask("crash")
            self._ask("steps")
        elif evidence.course.over:
            self._ask("end")
            self._ask("probe")
        if evidence.crash is not None and len(self.findings) == before:
            self._ask("source")

    def adopt(self, finding: Finding) -> None:
        """A finding of another process of the same script: told as if it were found here, if it is not known yet."""
        rule = next((rule for rule in self.rules if rule.id == finding.rule), None)
        if rule is not None and not self._explained(rule):
            self._keep(finding)

    def probe(self) -> list[Finding]:
        """Ask the rules that try things out on copies of the model."""
        before = len(self.findings)
        self._ask("probe")
        return self.findings[before:]

    def _ask(self, needs: str) -> None:
        for rule in self.rules if needs == "crash" else self._running:
            if needs in rule.needs.split(", ") and rule.id not in self._faulty and not self._explained(rule):
                self._ask_one(rule)

    def _explained(self, rule: Rule) -> bool:
        found = self.evidence.found
        return any(fnmatch.fnmatchcase(other, pattern) for pattern in rule.follows for other in found)

    def _ask_one(self, rule: Rule) -> None:
        try:
            for proof in rule.check(self.evidence):
                self._take(rule, proof)
        except NotSeen as missing:
            self.not_seen[rule.id] = str(missing)
        except Exception as fault:
            self._faulty.add(rule.id)  # it would fail again, and say half of what it has to say
            fence.report(f"the rule {rule.id}", fault)

    def _take(self, rule: Rule, proof: Proof) -> None:
        self._keep(finding_of(rule.id, rule.severity, proof, self.evidence.course.step))

    def _keep(self, finding: Finding) -> None:
        from stepscope.diagnose.excerpt import with_source

        if self._settings is not None:
            finding = self._settings.with_severity(finding)
        finding = with_source(finding, began=self._began, lines=self.evidence.source.kept_lines)
        key = (finding.rule, finding.file, finding.line)
        if key in self._known or sum(known[0] == finding.rule for known in self._known) >= _MOST_OF_A_RULE:
            return
        self._known.add(key)
        if self._settings is not None and self._settings.is_silenced(finding):
            return
        self.findings.append(finding)
        self.evidence.found.append(finding.rule)
        if self._on_finding is not None:
            fence.fenced("telling of a finding")(self._on_finding)(finding)


def finding_of(rule: str, severity: Severity, proof: Proof, step: int | None = None) -> Finding:
    """The finding a proof makes."""
    site = site_of(proof.where)
    related = [(site_of(where), label) for where, label in proof.related]
    same_line = site is not None and site.end_line in (None, site.line)
    return Finding(
        rule=rule,
        severity=proof.severity or severity,
        message=proof.message,
        file=None if site is None else os.path.abspath(site.file),
        line=None if site is None else site.line,
        column=None if site is None else site.column,
        end_column=site.end_column if site is not None and same_line else None,
        function="" if site is None else site.function,
        evidence=proof.evidence,
        label=proof.label,
        fix=proof.fix,
        step=step,
        related=[
            Related(file=os.path.abspath(place.file), line=place.line, label=label)
            for place, label in related
            if place is not None
        ],
    )


def site_of(where: Any) -> Site | None:
    """A place, a site or (file, line) as a site."""
    if isinstance(where, Place):
        return where.site
    return where if where is None or isinstance(where, Site) else Site(file=where[0], line=where[1])
