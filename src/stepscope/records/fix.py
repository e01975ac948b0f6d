"""The output of `stepscope fix --json`: one `FixDocument`."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["FixDocument", "FixOutcome", "FixVersion"]

Fate = Literal["gone", "still there", "not seen"]


class FixVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One version of the script: the original, or with an edit."""

    label: str
    """`before`, `after`, or what a trial changes: `lr=0.01`."""
    exit_code: int = 0
    steps: int = 0
    loss: float | None = None
    """The mean over the last tenth of the steps."""
    step_ms: float | None = None
    losses: list[float] = []
    metrics: dict[str, float] = {}
    findings: list[str] = []
    """`rule at file:line` of each warning and error."""
    error: str = ""


class FixOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One finding, and what its edit changed."""

    rule: str
    file: str | None = None
    line: int | None = None
    message: str = ""
    label: str = ""
    """The chosen value, if several were tried."""
    diff: str = ""
    finding: Fate = "not seen"
    new: list[str] = []
    """Findings that only the edited version has."""
    uncovered: list[str] = []
    """Findings that were hidden before: by this one, or because the script crashed before reaching them."""
    proved: bool = False
    why_not: str = ""
    before: FixVersion | None = None
    after: FixVersion | None = None
    tried: list[FixVersion] = []


class FixDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The complete result: what was tried in which order, the diff of everything proved, and what is left."""

    version: int = 1
    script: str
    steps: int
    outcomes: list[FixOutcome] = []
    diff: str = ""
    applied: bool = False
    left: list[str] = []
    """Findings that remain, with or without an edit."""
