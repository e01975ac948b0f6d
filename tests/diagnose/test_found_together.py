"""Findings of several processes of one run, asked again."""

from __future__ import annotations

from stepscope.diagnose.engine import Engine
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rediagnose import found_together
from stepscope.diagnose.rule import Rule
from stepscope.diagnose.source import Source
from stepscope.records import Finding

CAUSE = Rule("x.cause", "error", "steps", lambda run: iter(()))
EFFECT = Rule("x.effect", "warning", "steps", lambda run: iter(()), follows=("x.cause",))


def process(*found: tuple[str, int]) -> Engine:
    engine = Engine(Evidence({}, Source({})), rules=[CAUSE, EFFECT])
    for rule, line in found:
        engine.keep(Finding(rule=rule, severity="warning", message=rule, file="/train.py", line=line))
    return engine


def places(*engines: Engine) -> list[tuple[str, int | None]]:
    return [(finding.rule, finding.line) for finding in found_together(engines)]


def test_what_several_ranks_found_is_one_finding() -> None:
    assert places(process(("x.cause", 3)), process(("x.cause", 3), ("x.cause", 5))) == [("x.cause", 3), ("x.cause", 5)]


def test_a_cause_found_in_another_process_explains_the_effect() -> None:
    assert places(process(("x.effect", 9)), process(("x.cause", 3))) == [("x.cause", 3)]
    assert places(process(("x.effect", 9)), process()) == [("x.effect", 9)]


def test_what_one_process_found_stays_as_it_said_it() -> None:
    """It found the effect first, and said so."""
    assert places(process(("x.effect", 9), ("x.cause", 3))) == [("x.effect", 9), ("x.cause", 3)]
