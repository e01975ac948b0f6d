"""The engine: asks rules of a training at the right moments, while it runs or again from what it has kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from msgspec.structs import replace

from stepscope.common import clocks
from stepscope.diagnose.crash.proved import agrees, says_the_same, sure_repair, with_change
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.inquiry import Inquiry, Silencer
from stepscope.diagnose.rule import CRASHED, RUNNING, Proof, Rule, finding_of, rules_for, running_rules
from stepscope.records import Finding

_ASKED_AT = frozenset((3, 8, 20, 50))
"""Steps at which rules are asked while a window of close looking is open; they are asked again when it ends."""
_SHARE = 0.02
"""Of the thread's CPU time that asking may take after the first window. All rules are asked once more at the end."""


class Engine(Inquiry):
    """Asks rules of the evidence and keeps what they found.

    engine = Engine(Evidence.of(watcher), on_finding=print)
    watcher.on_moment = engine.moment
    """

    asked_once = False

    def __init__(
        self,
        evidence: Evidence,
        *,
        settings: Silencer | None = None,
        on_finding: Callable[[Finding], None] | None = None,
        rules: Iterable[Rule] | None = None,
    ) -> None:
        chosen = running_rules().values() if rules is None else rules
        super().__init__(evidence, chosen, settings=settings, on_finding=on_finding)
        self.evidence = evidence
        self._all = None if rules is None else self._rules
        self._read_source = False
        self._began = clocks.time()
        self._cpu_began = clocks.thread_time()
        self._asking_s = 0.0
        self._has_seen_window = False

    @cached_property
    def _of_crash(self) -> set[str]:
        return {rule.id for rule in self.rules if rule.needs == "crash"}

    @property
    def rules(self) -> list[Rule]:
        """All rules that are asked, also those for a crash: causes before what they explain."""
        if self._all is None:
            self._all = self.wanted(rules_for(*RUNNING, *CRASHED).values())
        return self._all

    def rules_for(self, needs: str) -> list[Rule]:
        return self.rules if needs in CRASHED else self._rules

    def moment(self, kind: str) -> None:
        """Something happened: "step", "window" (a stretch of close looking is over), "alarm" (one that was opened
        because something looked wrong) or "epoch"."""
        began = clocks.thread_time()
        if self._is_worth_asking(kind, began):
            self._ask_now()
            self._asking_s += clocks.thread_time() - began
        self._has_seen_window |= kind == "window"

    def _is_worth_asking(self, kind: str, now: float) -> bool:
        if kind == "step":
            return self.evidence.progress.step in _ASKED_AT
        is_routine = kind != "alarm" and self._has_seen_window
        return not is_routine or self._asking_s <= _SHARE * (now - self._cpu_began)

    def _ask_now(self) -> None:
        step = self.evidence.progress.step
        self.evidence.settle()
        self.ask("steps")
        if not self._read_source and step >= 2:
            self._read_source = True
            self.ask("source")

    def finish(self) -> list[Finding]:
        """The script has ended by itself: ask everything once more."""
        self.evidence.progress.over = True
        self.evidence.settle()
        self.evidence.experiment()
        self.ask("steps")
        self.ask("end")
        if not self._read_source:
            self._read_source = True
            self.ask("source")
        return self.findings

    def crashed(self, error: BaseException) -> list[Finding]:
        """An exception has ended the script. Gives the findings that explain it."""
        before = len(self.findings)
        self.evidence.progress.over = True
        self.evidence.settle()
        self.evidence.observe_crash(error)
        if self.evidence.crash is not None:
            self.ask("crash")
        explained = self.findings[before:]
        self.ask("steps")
        if not explained:
            self.ask("source")
            self._ask_unexplained(before)
        return explained or self.findings[before:]

    def _ask_unexplained(self, before: int) -> None:
        """Say what is known of a crash that no rule has named: never instead of a cause."""
        if self.evidence.crash is not None and not any(one.severity == "error" for one in self.findings[before:]):
            self.ask("unexplained")

    def ask_again(self) -> None:
        """Ask all rules of evidence that is complete: what a run has kept."""
        evidence = self.evidence
        if evidence.crash is None or evidence.progress.step >= min(_ASKED_AT):
            self.ask("steps")
            self.ask("source")
        before = len(self.findings)
        if evidence.crash is not None:
            self.ask("crash")
            self.ask("steps")
        elif evidence.progress.over:
            self.ask("end")
            self.ask("probe")
        if evidence.crash is not None and len(self.findings) == before:
            self.ask("source")
            self._ask_unexplained(before)

    def adopt(self, finding: Finding) -> None:
        """A finding of another process of the same script: told as if it were found here, if it is not known yet."""
        rule = next((rule for rule in self.rules if rule.id == finding.rule), None)
        if rule is not None and not self.explained(rule):
            self.keep(self._with_source(finding))

    def probe(self) -> list[Finding]:
        """Ask the rules that try things out on copies of the model."""
        before = len(self.findings)
        self.ask("probe")
        return self.findings[before:]

    def keep(self, finding: Finding, proof: Proof | None = None) -> None:
        is_of_crash = proof is not None and finding.rule in self._of_crash
        repair = sure_repair(self.evidence) if is_of_crash else None
        if repair is None or proof is None:
            super().keep(finding, proof)
            return
        written = finding if proof.edit is None else self.with_edits(finding, proof)
        if agrees(written, repair):
            super().keep(finding, proof)
        elif says_the_same(finding, repair):
            super().keep(*with_change(finding, proof, repair))

    def finding(self, rule: Rule, proof: Proof) -> Finding:
        return self._with_source(finding_of(rule.id, rule.severity, proof, self.evidence.progress.step))

    def with_edits(self, finding: Finding, proof: Proof) -> Finding:
        from stepscope.diagnose.edits import written

        plans = [("", proof.edit)] if proof.edit is not None else proof.trials
        made = [written(plan, self.evidence.source, label) for label, plan in plans]
        return replace(finding, edits=[edit for edit in made if edit is not None])

    def _with_source(self, finding: Finding) -> Finding:
        from stepscope.diagnose.excerpt import with_source

        return with_source(finding, began=self._began, lines=self.evidence.source.kept_lines)
