"""W&B's metric definitions, alerts and summaries, converted to Stepscope's."""

from __future__ import annotations

import re
from typing import Any, Literal

from stepscope.eventfiles.wire import pairs
from stepscope.importers.wandb.messages import message, text
from stepscope.records import Alert, MetricRule, Severity
from stepscope.track.names import as_name
from stepscope.track.secrets import mask_text

_METRIC = {1: "name", 2: "glob", 4: "x", 7: "summary", 8: "goal", 10: "expanded"}
_SUMMARIES: dict[int, Literal["min", "max", "mean", "last", "none", "first"]]
_SUMMARIES = {1: "min", 2: "max", 3: "mean", 5: "last", 6: "none", 8: "first"}
_GOALS: dict[int, Literal["min", "max"]] = {1: "min", 2: "max"}
_LEVELS: dict[str, Severity] = {"INFO": "info", "WARN": "warning", "ERROR": "error"}
_DERIVED = ("min", "max", "mean", "best", "last", "first")


def series_name(name: str) -> str:
    """A metric name from a W&B definition, where a literal dot is escaped.

    >>> series_name("val.acc"), series_name("v1\\\\.2/acc")
    ('val.acc', 'v1.2/acc')
    """
    return re.sub(r"\\(.)", r"\1", name)


def rule_of(body: bytes, time: float) -> MetricRule | None:
    """A `define_metric`; None for those that W&B derived itself, and for unsupported patterns."""
    found = message(body, _METRIC)
    name = text(found.get("glob")) or series_name(text(found.get("name")))
    if not name or found.get("expanded") or "*" in name[:-1]:
        return None
    chosen = {number for number, on in pairs(found.get("summary", b"")) if on}
    summary = next((word for number, word in _SUMMARIES.items() if number in chosen), None)
    x = series_name(text(found.get("x"))) or None
    goal = _GOALS.get(found.get("goal", 0))
    if summary is None and x is None and goal is None:
        return None
    return MetricRule(time=time, name=as_name(name), summary=summary, x=None if x == "_step" else x, goal=goal)


def alert(body: bytes, time: float, step: int) -> Alert:
    found = message(body, {1: "title", 2: "text", 3: "level"})
    return Alert(
        time=time,
        title=mask_text(text(found.get("title"))),
        text=mask_text(text(found.get("text"))),
        level=_LEVELS.get(text(found.get("level")), "info"),
        step=step,
    )


def summary_by_hand(summary: dict[str, Any], last: dict[str, Any]) -> dict[str, Any]:
    """The summary values set by the script itself: everything that does not follow from the history."""
    kept: dict[str, Any] = {}
    for name, value in summary.items():
        head, _, leaf = name.rpartition(".")
        if name.startswith("_") or _same(value, last.get(name)):
            continue
        if name in last and isinstance(value, dict) and set(value) <= set(_DERIVED):
            continue
        if (leaf in _DERIVED and head in last) or any(name.startswith(f"{each}.") for each in _media_names(last)):
            continue
        if isinstance(value, dict) and "_type" in value:
            continue
        kept[name] = value
    return kept


def _media_names(last: dict[str, Any]) -> list[str]:
    return [name for name, value in last.items() if isinstance(value, dict)]


def _same(one: Any, other: Any) -> bool:
    return bool(one == other or (one != one and other != other))
