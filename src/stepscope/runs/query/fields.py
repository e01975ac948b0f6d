"""Fields: what a run query, a sort order and a column of the runs table can refer to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

FieldType = Literal["text", "number", "time", "duration", "tags", "any"]

RUN_FIELDS: dict[str, FieldType] = {
    "name": "text",
    "project": "text",
    "id": "text",
    "status": "text",
    "tags": "tags",
    "notes": "text",
    "host": "text",
    "user": "text",
    "group": "text",
    "created": "time",
    "ended": "time",
    "age": "duration",
    "duration": "duration",
    "findings": "number",
    "dropped": "number",
    "git.commit": "text",
    "git.branch": "text",
}
"""The fields every run has, whatever it logs."""

ALIASES = {
    "tag": "tags",
    "state": "status",
    "note": "notes",
    "hostname": "host",
    "started": "created",
    "runtime": "duration",
    "commit": "git.commit",
    "branch": "git.branch",
}
"""Aliases that people try. A metric with such a name needs quotes: `"state" < 3`."""

STATS = ("last", "min", "max", "mean", "first", "count", "nan", "inf", "last_step", "min_step", "max_step")
"""Statistics of a metric: `loss.min`. A metric without one means its last value."""

_MAX_GUESSES = 2000
"""How many names are searched for close matches; a store may have a million."""
_MAX_APART = 24

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/-")


@dataclass(frozen=True)
class Field:
    """One field: a fact about a run, a config key, or one statistic of a metric."""

    source: Literal["run", "config", "metric", "summary"]
    name: str
    stat: str = ""

    @property
    def type(self) -> FieldType:
        if self.source == "run":
            return RUN_FIELDS[self.name]
        return "number" if self.source == "metric" else "any"

    @property
    def key(self) -> str:
        """The field as written in a query."""
        return field_key(self)


def field_key(field: Field) -> str:
    """A field in query syntax; `resolve` reads it back.

    >>> field_key(Field("metric", "val/acc", "max")), field_key(Field("config", "two words"))
    ('val/acc.max', 'config."two words"')
    """
    if field.source == "run":
        return field.name
    if field.source == "metric":
        plain = _is_plain(field.name) and field.name not in RUN_FIELDS and not field.name[0].isdigit()
        return f"{field.name if plain else _quoted(field.name)}.{field.stat or 'last'}"
    return f"{field.source}.{field.name if _is_plain(field.name) else _quoted(field.name)}"


def resolve(parts: tuple[tuple[str, bool], ...]) -> Field | None:
    """The field a name refers to; its parts come with whether they were quoted. None: no such field.

    A quoted name is always a metric, so `"status".max` is the metric called status.
    """
    text = "".join(part for part, _ in parts)
    head, head_quoted = parts[0]
    if not head_quoted:
        name = ALIASES.get(text.lower(), text.lower())
        if len(parts) == 1 and name in RUN_FIELDS:
            return Field("run", name)
        source, dot, rest = head.partition(".")
        if dot and source.lower() in ("config", "metric", "summary"):
            rest_parts = (((rest, False),) if rest else ()) + parts[1:]
            return _prefixed(source.lower(), rest_parts)
        if source.lower() in ("git", "run") and dot:
            return None
    return _metric(parts)


def _prefixed(source: str, parts: tuple[tuple[str, bool], ...]) -> Field | None:
    name = "".join(part for part, _ in parts)
    if not name:
        return None
    if source == "metric":
        return _metric(parts)
    return Field("config" if source == "config" else "summary", name)


def _metric(parts: tuple[tuple[str, bool], ...]) -> Field | None:
    tail, tail_quoted = parts[-1]
    name = "".join(part for part, _ in parts)
    if not tail_quoted:
        before, dot, stat = tail.rpartition(".")
        if dot and stat.lower() in STATS:
            name = name[: len(name) - len(tail)] + before
            return Field("metric", name, stat.lower()) if name else None
    return Field("metric", name, "last") if name else None


def close_fields(text: str, known: Iterable[str]) -> list[str]:
    """Up to three known fields that a mistyped one may have meant, all with the prefix `config.` if it has it."""
    known = [name for name in known if abs(len(name) - len(text)) <= _MAX_APART][:_MAX_GUESSES]
    config = {name.lower().removeprefix("config."): name for name in known if name.startswith("config.")}
    if text.lower().startswith("config."):
        return [config[name] for name in get_close_matches(text[7:].lower(), config, n=3)]
    others = {name.lower(): name for name in (*known, *RUN_FIELDS) if not name.startswith("config.")}
    base, _, stat = text.lower().rpartition(".")
    wanted = base if base and stat in STATS else text.lower()
    in_config = [name for key, name in config.items() if wanted in (key, key.rpartition("/")[2])]
    return list(dict.fromkeys(in_config + [others[name] for name in get_close_matches(wanted, others, n=3)]))[:3]


def _is_plain(name: str) -> bool:
    return bool(name) and _SAFE.issuperset(name)


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
