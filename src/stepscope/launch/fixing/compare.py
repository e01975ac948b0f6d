"""Two versions of a script beside each other: is the finding gone, and what else is different."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable

from stepscope.diagnose.rule import all_rules
from stepscope.launch.fixing.version import VersionRun
from stepscope.records import Edit, Finding, TextChange
from stepscope.records.fix import Fate, FixVersion


def loud(findings: Iterable[Finding]) -> list[Finding]:
    return [one for one in findings if one.severity != "info"]


def named(finding: Finding) -> str:
    """`opt.no-zero-grad at train.py:33`."""
    where = f" at {os.path.basename(finding.file)}:{finding.line}" if finding.file else ""
    return finding.rule + where


class Difference:
    """What an edit changed, by the findings of both versions."""

    def __init__(self, finding: Finding, edit: Edit, before: VersionRun, after: VersionRun) -> None:
        then = Counter(one.rule for one in loud(before.findings))
        now = Counter(one.rule for one in loud(after.findings))
        self.finding = _fate(finding, edit, before, after)
        then[finding.rule] -= self.finding == "gone" and finding.severity != "info"
        rose = [one for one in loud(after.findings) if now[one.rule] > then[one.rule]]
        hidden = [one for one in rose if _was_hidden(one, finding, edit, before)]
        self.new = [named(one) for one in rose if one not in hidden]
        self.uncovered = [named(one) for one in hidden]
        self.fails = after.crashed and not (before.crashed and hidden)
        self.is_stuck = after.crashed and before.crashed and after.steps <= before.steps

    @property
    def proved(self) -> bool:
        return not self.why_not

    @property
    def why_not(self) -> str:
        if self.finding == "not seen":
            return "the finding was not seen in these steps; try more with --steps"
        if self.finding == "still there":
            return "the finding is still there"
        if self.new:
            return f"it brings {self.new[0]}"
        if self.is_stuck:
            return "the script still fails, as early as before"
        return "the edited script fails" if self.fails else ""


def _fate(finding: Finding, edit: Edit, before: VersionRun, after: VersionRun) -> Fate:
    if not any(one.rule == finding.rule for one in before.findings):
        return "not seen"
    remains = any(_is_same(one, finding, edit) for one in after.findings)
    return "still there" if remains else "gone"


def _is_same(one: Finding, finding: Finding, edit: Edit) -> bool:
    """Whether a finding of the edited script is the one that was to be fixed: on its line, or on one of the edit's."""
    if one.rule != finding.rule or not _in_same_file(one, finding):
        return False
    if one.line is None or finding.line is None:
        return True
    here = _changes_in(edit, finding)
    now, then = dict(one.source).get(one.line), dict(finding.source).get(finding.line)
    if now is None or then is None:
        return abs(one.line - _moved(finding.line, here)) <= 1 + max((len(change.new) for change in here), default=0)
    written = [line for change in here for line in change.new]
    return now.strip() in {line.strip() for line in [then, *written]}


def _changes_in(edit: Edit, finding: Finding) -> list[TextChange]:
    name = os.path.basename(finding.file or "")
    return [change for change in edit.changes if os.path.basename(change.file) == name]


def _moved(line: int, changes: list[TextChange]) -> int:
    """Where a line is after changes above it."""
    above = [change for change in changes if change.line + len(change.old) <= line]
    return line + sum(len(change.new) - len(change.old) for change in above)


def _was_hidden(new: Finding, fixed: Finding, edit: Edit, before: VersionRun) -> bool:
    """Not the edit's doing: the script ended before it could be seen, or the fixed finding explained it away.

    Another error in the place of the fixed one is the edit's doing: the crash has only changed its words.
    """
    rule = all_rules().get(new.rule)
    if rule is not None and rule.follows_any([fixed.rule]):
        return True
    line = None if fixed.line is None else _moved(fixed.line, _changes_in(edit, fixed))
    is_there = _in_same_file(new, fixed) and new.line == line
    return before.crashed and not is_there


def _in_same_file(one: Finding, other: Finding) -> bool:
    return os.path.basename(one.file or "") == os.path.basename(other.file or "")


def is_better(one: VersionRun, other: VersionRun) -> bool:
    """Whether the loss of one is lower at the end; a loss that is not a number is the worst."""

    def worth(run: VersionRun) -> float:
        return run.loss if run.loss is not None and math.isfinite(run.loss) else math.inf

    return worth(one) < worth(other)


def version_record(label: str, run: VersionRun) -> FixVersion:
    return FixVersion(
        label=label,
        exit_code=run.exit_code,
        steps=run.steps,
        loss=run.loss,
        step_ms=run.step_ms,
        losses=run.losses,
        metrics=run.metrics,
        findings=[named(one) for one in loud(run.findings)],
        error=run.said,
    )
