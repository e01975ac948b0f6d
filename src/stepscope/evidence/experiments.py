"""Experiments: the outcomes of tests on copies of the model and the data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from stepscope.evidence.registry import record, table

State = Literal["passed", "suspicious", "not checked"]


@record
@dataclass
class Outcome:
    """The outcome of an experiment."""

    state: State
    said: str
    """A few words with the numbers: "2.31 -> 0.04 in 40 steps"."""
    facts: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def passed(cls, said: str, **facts: Any) -> Outcome:
        return cls("passed", said, facts)

    @classmethod
    def suspicious(cls, said: str, **facts: Any) -> Outcome:
        return cls("suspicious", said, facts)


@table("experiments")
@dataclass(eq=False)
class Experiments:
    """`run.experiments`"""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """By the name of the experiment."""
    over: bool = False
    """No more are run: those without an outcome by now are not checked."""
