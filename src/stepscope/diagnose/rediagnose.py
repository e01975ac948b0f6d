"""Rules asked again, of what a run has kept: with the rules of today, on a machine without torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.common.syntax import kept_texts
from stepscope.diagnose.engine import Engine
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stepscope.diagnose.inquiry import Silencer
    from stepscope.diagnose.rule import Rule
    from stepscope.evidence.bundle import Bundle
    from stepscope.records import Finding


def asked_again(bundle: Bundle, settings: Silencer | None = None, rules: Iterable[Rule] | None = None) -> Engine:
    """An engine that has asked all rules of one process's evidence; `findings` and `not_seen` say what came of it."""
    engine = Engine(Evidence(bundle.tables, Source(bundle.sources)), settings=settings, rules=rules)
    with kept_texts(bundle.sources):
        engine.ask_again()
    return engine


def found_together(engines: Sequence[Engine]) -> list[Finding]:
    """What the processes of one run have found: each finding once, and none that another process's explains."""
    found: dict[tuple[str, str | None, int | None], Finding] = {}
    for engine in engines:
        elsewhere = {finding.rule for other in engines if other is not engine for finding in other.findings}
        rules = {rule.id: rule for rule in engine.rules}
        for finding in engine.findings:
            if not rules[finding.rule].follows_any(elsewhere):
                found.setdefault((finding.rule, finding.file, finding.line), finding)
    return list(found.values())
