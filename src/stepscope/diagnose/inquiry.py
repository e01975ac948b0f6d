"""Asking rules: the same for the evidence of a training, the folder of a run and a profile.

A rule is a pure function of one of these that yields proofs. Which of the rules are asked, what the user has silenced,
what another finding explains already, and what happens when a rule fails is decided here for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from stepscope import fence
from stepscope.diagnose.evidence import NotSeen
from stepscope.diagnose.rule import Proof, Rule
from stepscope.diagnose.rule_order import causes_first
from stepscope.records import Finding

_MOST_OF_A_RULE = 5


class Silencer(Protocol):
    """Whether the user wants to hear of a finding (settings, options, comments)."""

    def is_wanted(self, rule: str) -> bool: ...
    def is_silenced(self, finding: Finding) -> bool: ...
    def with_severity(self, finding: Finding) -> Finding: ...


class Subject(Protocol):
    """What rules are asked of: `Evidence`, `StoredRun` or `Measured`."""

    found: list[str]
    """The ids of the rules that have found something in it so far."""


class Inquiry:
    """Asks rules of one subject and keeps what they found."""

    asked_once = True
    """The subject is complete and rules are asked of it once; else each place is reported once, and five of a rule."""

    def __init__(
        self,
        subject: Subject,
        rules: Iterable[Rule],
        *,
        settings: Silencer | None = None,
        on_finding: Callable[[Finding], None] | None = None,
    ) -> None:
        self.subject = subject
        self.settings = settings
        self.findings: list[Finding] = []
        self.proofs: list[Proof | None] = []
        """Of each finding; None where another process has found it."""
        self.not_seen: dict[str, str] = {}
        """Rules that could not be asked: the evidence has no such table."""
        self._rules = self.wanted(rules)
        self._on_finding = on_finding
        self._known: set[tuple[str, str | None, int | None]] = set()
        self._faulty: set[str] = set()

    def finding(self, rule: Rule, proof: Proof) -> Finding | None:
        """The finding a proof makes; None where it is not worth a line."""
        raise NotImplementedError

    def with_edits(self, finding: Finding, proof: Proof) -> Finding:
        """The finding with its fix as a change of text."""
        return finding

    def suits(self, rule: Rule) -> bool:
        """Whether a rule is meant for this subject."""
        return True

    def rules_for(self, needs: str) -> list[Rule]:
        """The rules among which those that need this are sought."""
        return self._rules

    def wanted(self, rules: Iterable[Rule]) -> list[Rule]:
        """Those that the user has not turned off: causes before what they explain."""
        settings = self.settings
        return causes_first([rule for rule in rules if settings is None or settings.is_wanted(rule.id)])

    def ask(self, needs: str) -> None:
        """Ask every rule that needs this, unless a finding explains already what it would say."""
        for rule in self.rules_for(needs):
            if needs in rule.needs.split(", ") and rule.id not in self._faulty and not self.explained(rule):
                self._ask_one(rule)

    def explained(self, rule: Rule) -> bool:
        return rule.follows_any(self.subject.found)

    def _ask_one(self, rule: Rule) -> None:
        try:
            for proof in rule.check(self.subject) if self.suits(rule) else ():
                finding = self.finding(rule, proof)
                if finding is not None:
                    self.keep(finding, proof)
        except NotSeen as missing:
            self.not_seen[rule.id] = str(missing)
        except Exception as fault:
            self._faulty.add(rule.id)  # it would fail again, and report half of its result
            fence.report(f"the rule {rule.id}", fault, training=not self.asked_once)

    def keep(self, finding: Finding, proof: Proof | None = None) -> None:
        """Keep what is new and not silenced, and report it."""
        if self.settings is not None:
            finding = self.settings.with_severity(finding)
        if not self.asked_once and not self._is_new(finding):
            return
        if self.settings is not None and self.settings.is_silenced(finding):
            return
        if proof is not None and (proof.edit is not None or proof.trials):
            finding = fence.fenced("writing a fix")(self.with_edits)(finding, proof) or finding
        self.findings.append(finding)
        self.proofs.append(proof)
        self.subject.found.append(finding.rule)
        if self._on_finding is not None:
            fence.fenced("reporting a finding")(self._on_finding)(finding)

    def _is_new(self, finding: Finding) -> bool:
        key = (finding.rule, finding.file, finding.line)
        if key in self._known or sum(known[0] == finding.rule for known in self._known) >= _MOST_OF_A_RULE:
            return False
        self._known.add(key)
        return True
