"""What the tables of the catalogue hold of a run: its facts, values, metrics and goals as rows.

Text is prepared here, by Python, so that SQL compares what Python would: lower case, natural order, how numbers print.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from stepscope.runs.catalogue.entry import Head
from stepscope.runs.catalogue.index import Row
from stepscope.runs.catalogue.metric_stats import MetricStats
from stepscope.runs.catalogue.ordering import natural_key
from stepscope.runs.catalogue.selection import ARCHIVED

BETWEEN = "\1"
"""Stands between the texts in `words`; a word that is searched for does not have it."""
_MOST_TEXT = 20_000
_STATS = ("last", "first", "min", "max", "mean", "count", "nan", "inf", "last_step", "min_step", "max_step")
_FACTS: dict[str, Callable[[Head], Any]] = {
    "notes": lambda head: head.notes,
    "host": lambda head: head.host or None,
    "user": lambda head: head.user or None,
    "group": lambda head: head.group,
    "git.commit": lambda head: head.commit,
    "git.branch": lambda head: head.branch,
    "name": lambda head: head.name,
    "project": lambda head: head.project,
    "status": lambda head: head.status,
    "id": lambda head: head.id,
    "tags": lambda head: head.tags,
}


def run_row(store: str, row: Row, head: Head) -> dict[str, Any]:
    return {
        "store": store,
        "folder": row.folder,
        "stamp": row.stamp,
        "id": head.id,
        "name": sound(head.name),
        "name_lower": _lower(head.name),
        "project": sound(head.project),
        "project_lower": _lower(head.project),
        "status": head.status,
        "created": head.created,
        "ended": head.ended,
        "duration": head.duration_s,
        "findings": head.findings,
        "dropped": head.dropped,
        "archived": ARCHIVED in head.tags,
        "words": BETWEEN.join(sound(one[:_MOST_TEXT].lower()) for one in (head.name, head.project, *head.tags)),
        "config": {sound(key): _json(value) for key, value in head.config.items()},
        "head": row.head,
        "names": msgspec.msgpack.encode(row.names),
        "stats": row.stats,
    }


def run_values_of(head: Head) -> Iterator[dict[str, Any]]:
    """The rows of `run_values` for a run."""
    for name, fact in _FACTS.items():
        yield from _cells(f"run:{name}", fact(head))
    for source, values in (("config", head.config), ("summary", head.summary)):
        for key, value in values.items():
            yield from _cells(f"{source}:{key}", value)
    for metric, goal in head.goals.items():
        yield from _cells(f"goal:{metric}", goal)


def run_metrics_of(row: Row) -> Iterator[dict[str, Any]]:
    """The rows of `run_metrics` for a run."""
    stats = MetricStats(row.names, {name: at for at, name in enumerate(row.names)}, row.folder, lambda _: row.stats)
    stats.fill(row.stats)
    for name in row.names:
        yield {"name": sound(name), **{stat: stats.number(name, stat) for stat in _STATS}}


def _cells(field: str, value: Any) -> Iterator[dict[str, Any]]:
    if value is None:
        return
    field = sound(field)
    if isinstance(value, (list, tuple)):
        joined = ", ".join(map(str, value))
        natural = _natural(joined) if value else None
        yield {**_cell(field, 0, "l", joined), "natural": natural}
        for place, one in enumerate(value, 1):
            yield from ({**cell, "place": place} for cell in _cells(field, one) if not isinstance(one, (list, tuple)))
        return
    if isinstance(value, bool):
        yield {**_cell(field, 0, "b", "true" if value else "false"), "number": float(value)}
    elif isinstance(value, (int, float)):
        nan = isinstance(value, float) and math.isnan(value)
        yield {**_cell(field, 0, "x" if nan else "n", str(value)), "number": None if nan else _double(value)}
    else:
        text = value if isinstance(value, str) else str(value)
        yield {**_cell(field, 0, "t" if isinstance(value, str) else "o", text), "natural": _natural(text)}


def _cell(field: str, place: int, kind: str, text: str) -> dict[str, Any]:
    return {
        "field": field,
        "place": place,
        "kind": kind,
        "number": None,
        "text": sound(text),
        "lower": _lower(text),
        "natural": None,
    }


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _lower(text: str) -> str | None:
    """NULL where it is the same: most text is."""
    lowered = sound(text[:_MOST_TEXT].lower())
    return None if lowered == sound(text) else lowered


def sound(text: str) -> str:
    return text.replace("\0", "\ufffd")  # PostgreSQL's text has every character but this one


def _json(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str):
        return sound(value)
    return value if isinstance(value, (bool, int, float, list)) or value is None else sound(str(value))


def _natural(text: str) -> str:
    """A text whose order by code point is that of `natural_key`.

    >>> sorted(["run-10", "Run-2", "a"], key=_natural)
    ['a', 'Run-2', 'run-10']
    """
    pieces, lowered = natural_key(text)
    parts: list[str] = []
    for at, piece in enumerate(pieces):
        if at % 2:
            digits = str(piece)
            parts.append(f"\2{len(digits):03d}{digits}")
        else:
            parts.append(str(piece))
    return sound("".join((*parts, "\1", lowered)))
