"""The output of `stepscope check --json`: one `CheckDocument`."""

from __future__ import annotations

from typing import Literal

import msgspec

from stepscope.records.run import Finding

__all__ = ["Answer", "CheckDocument", "ScriptVerdict", "State", "Verdict"]

State = Literal["passed", "suspicious", "not checked"]
Verdict = Literal["running", "passed", "suspicious", "failed", "not checked"]
"""`suspicious`: an error or a warning was found, or a probe has a doubt. `failed`: the script crashed, or exited with
another code than 0. `running` in the file of a process that no longer exists means that it was killed."""


class Answer(msgspec.Struct, frozen=True):
    """One question of the check's recipe, answered."""

    question: str
    state: State
    said: str = ""


class ScriptVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one script."""

    script: str
    verdict: Verdict = "running"
    headline: str = ""
    tried: str = ""
    watched: str = ""
    """Which of its steps were recorded in depth; empty for all of them."""
    steps: int = 0
    exit_code: int | None = None
    answers: list[Answer] = []
    """Only for a check; `run` has no questions."""


class CheckDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The complete result: the worst verdict of the scripts, the number of findings per severity, and the findings."""

    version: int = 1
    command: str
    verdict: Verdict
    counts: dict[str, int]
    scripts: list[ScriptVerdict]
    findings: list[Finding]
