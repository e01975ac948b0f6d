"""When rules are asked: at set moments, and no more often than their cost allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from stepscope.diagnose import engine as module
from stepscope.diagnose.engine import Engine
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, Rule, all_rules
from stepscope.diagnose.rule_order import causes_first
from stepscope.diagnose.source import Source


@dataclass
class Progress:
    step: int = 0
    over: bool = False


class Clock:
    """CPU time that passes when the training works or a rule is asked."""

    now = 0.0

    def thread_time(self) -> float:
        return self.now

    time = thread_time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr(module, "clocks", one)
    return one


def asked_at(clock: Clock, moments: list[tuple[str, float]], cost_s: float = 1.0) -> list[float]:
    """The CPU time at which a rule of this cost is asked, for moments with the work before each of them."""
    asked: list[float] = []

    def check(run: Evidence) -> Iterator[Proof]:
        asked.append(clock.now)
        clock.now += cost_s
        yield from ()

    one = Engine(Evidence({"progress": Progress(step=1)}, Source({})), rules=[Rule("x.rule", "error", "steps", check)])
    for kind, work_s in moments:
        clock.now += work_s
        one.moment(kind)
    return asked


def test_windows_after_the_first_are_asked_of_only_while_asking_is_a_small_part(clock: Clock) -> None:
    assert asked_at(clock, [("window", 1.0), ("window", 1.0), ("window", 60.0), ("window", 1.0)]) == [1.0, 63.0]


def test_a_window_that_was_opened_by_an_alarm_is_always_asked_of(clock: Clock) -> None:
    assert asked_at(clock, [("window", 1.0), ("alarm", 1.0), ("alarm", 1.0)]) == [1.0, 3.0, 5.0]


def test_no_rule_explains_itself_away() -> None:
    """Where `follows` leads back, which of two findings is shown would depend on the order of files."""
    asked: list[str] = []
    circular: list[tuple[str, str]] = []
    for rule in causes_first(list(all_rules().values())):
        asked.append(rule.id)
        later = all_rules().keys() - set(asked)
        circular += [(rule.id, other) for other in later if rule.follows_any((other,))]
    assert circular == []
