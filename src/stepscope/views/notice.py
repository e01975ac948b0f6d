"""Notices: what a user should know about a run without looking."""

from __future__ import annotations

from typing import Literal

import msgspec

from stepscope.records import Severity

NoticeKind = Literal["failed", "lost", "nonfinite", "stalled", "finding", "alert", "dropped", "mention"]


class Notice(msgspec.Struct):
    """One message: what happened to which run, and how bad it is."""

    run: str
    title: str
    text: str
    level: Severity
    kind: NoticeKind = "alert"
    """failed and lost: it ended badly. nonfinite: a loss went NaN or Inf. stalled: no step for long. finding: an error
    that was found. alert: `run.alert`. dropped: values could not be recorded. mention: a comment names somebody."""
    id: str = ""
    """The same event has the same id, so that it is reported once."""
    time: float = 0.0
    name: str = ""
    project: str = ""
