"""From findings to fixes that are proved: each edit is made in a copy, the copy is run, and both runs are compared."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stepscope.diagnose.edits.apply import edited_texts, read_source, unified
from stepscope.diagnose.outputs.write_output import with_paths
from stepscope.launch.fixing.compare import Difference, is_better, loud, named, version_record
from stepscope.launch.fixing.version import Target, VersionRun, run_version
from stepscope.launch.fixing.workspace import Workspace
from stepscope.records import Edit, Finding
from stepscope.records.fix import FixOutcome

_MOST_ROUNDS = 20


@dataclass(frozen=True)
class Plan:
    """How far to go."""

    steps: int = 200
    seconds: float = 300.0
    """For each run."""
    everything: bool = False
    rule: str | None = None


@dataclass
class Fixing:
    """Tries the edits of findings, one after the other, in one workspace."""

    target: Target
    """The copy that is run."""
    space: Workspace
    plan: Plan
    say: Callable[[str], None]
    outcomes: list[FixOutcome] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    """The user's files that proved edits change, with their new text."""
    originals: dict[str, str] = field(default_factory=dict)
    left: list[Finding] = field(default_factory=list)
    _runs: int = 0

    def go(self, given: Sequence[Finding] | None = None) -> None:
        """Fix what is `given` (of a stored run), or what a first run finds."""
        before = self._run("the script as it is")
        findings = before.findings if given is None else [self._inside(one) for one in given]
        refused: set[str] = set()
        for _ in range(_MOST_ROUNDS):
            chosen = self._next(findings, refused)
            if chosen is None:
                break
            outcome, after = self._try(chosen, before)
            self.outcomes.append(outcome)
            if outcome.proved and after is not None:
                before, findings = after, after.findings
            else:
                refused.add(_key(chosen))
            if not self.plan.everything:
                break
        self.left = loud(findings)

    def _next(self, findings: Sequence[Finding], refused: set[str]) -> Finding | None:
        order = {"error": 0, "warning": 1, "info": 2}
        wanted = [one for one in findings if self._is_editable(one) and _key(one) not in refused]
        rule = self.plan.rule
        wanted = loud(wanted) if rule is None else [one for one in wanted if one.rule == rule]
        return min(wanted, key=lambda one: order[one.severity], default=None)

    def _is_editable(self, finding: Finding) -> bool:
        """Whether it has edits, all of them of copies: a package or a file elsewhere is never changed."""
        files = [change.file for edit in finding.edits for change in edit.changes]
        return bool(files) and all(self.space.folder in Path(file).parents for file in files)

    def _try(self, finding: Finding, before: VersionRun) -> tuple[FixOutcome, VersionRun | None]:
        tried: list[tuple[Edit, VersionRun]] = []
        for edit in finding.edits:
            texts = edited_texts(edit, read_source)
            kept = {file: read_source(file) for file in texts}
            _write(texts)
            what = edit.label or f"the fix for {named(finding)}"
            tried.append((edit, self._run(f"it with {what}")))
            _write(kept)
        edit, after = tried[0]
        for other, run in tried[1:]:
            better = is_better(run, after)
            was = Difference(finding, edit, before, after).proved
            now = Difference(finding, other, before, run).proved
            if (now and not was) or (now == was and better):
                edit, after = other, run
        found = Difference(finding, edit, before, after)
        diff = self._keep(edit, found.proved)
        several = len(tried) > 1
        outcome = FixOutcome(
            rule=finding.rule,
            file=None if finding.file is None else self.space.outside(finding.file),
            line=finding.line,
            message=finding.message,
            label=edit.label,
            diff=diff,
            finding=found.finding,
            new=found.new,
            uncovered=found.uncovered,
            proved=found.proved,
            why_not=found.why_not,
            before=version_record("before", before),
            after=version_record(edit.label or "after", after),
            tried=[version_record(one.label, run) for one, run in tried] if several else [],
        )
        return outcome, after

    def _keep(self, edit: Edit, proved: bool) -> str:
        """The edit's diff by the user's own paths; a proved one stays in the workspace."""
        texts = edited_texts(edit, read_source)
        before = {file: read_source(file) for file in texts}
        if proved:
            for file, text in texts.items():
                mine = self.space.outside(file)
                self.originals.setdefault(mine, before[file])
                self.texts[mine] = text
            _write(texts)
        return unified(before, texts, lambda file: _shown(self.space.outside(file)))

    def diff(self) -> str:
        """Of all that was proved."""
        return unified(self.originals, self.texts, _shown)

    def _run(self, what: str) -> VersionRun:
        self._runs += 1
        self.say(f"running {what} for up to {self.plan.steps} steps")
        scratch = self.space.folder / f"run-{self._runs}"
        return run_version(self.target, scratch, steps=self.plan.steps, seconds=self.plan.seconds)

    def _inside(self, finding: Finding) -> Finding:
        return with_paths(finding, self.space.inside)


def _key(finding: Finding) -> str:
    edits = [change.new for edit in finding.edits for change in edit.changes]
    return f"{finding.rule} {finding.file} {edits}"


def _shown(path: str) -> str:
    near = os.path.relpath(path)
    return path if near.startswith("..") else near.replace(os.sep, "/")


def _write(texts: dict[str, str]) -> None:
    """Into the workspace: nobody else has it open."""
    for file, text in texts.items():
        Path(file).write_text(text, encoding=_encoding(file), newline="\n")


def _encoding(file: str) -> str:
    import tokenize

    with open(file, "rb") as opened:
        return tokenize.detect_encoding(opened.readline)[0]
