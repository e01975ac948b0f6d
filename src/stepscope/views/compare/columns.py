"""The columns of a comparison: single runs, or groups of runs that share the values of some keys."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from stepscope.errors import NotFound, UsageError
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.ordering import natural_key, ordered
from stepscope.runs.query.fields import Field, field_key
from stepscope.runs.query.query import parse_field
from stepscope.views.context import Context
from stepscope.views.plain import plain
from stepscope.views.route import route
from stepscope.views.runs import Cell, cell

MAX_RUNS = 1000
MAX_COLUMNS = 200
MAX_KEYS = 12
LONGEST_LABEL = 120
EVERYTHING = "*"
"""Group by every differing config key except seeds, so that only chance remains inside a group."""
_SEED = re.compile(r"(^|[/_.\-])(seed|seeds|random_state|rng)($|[/_.\-]|\d)", re.IGNORECASE)


class CompareRequest(msgspec.Struct):
    runs: list[str]
    by: list[str] = []
    """Keys to group by, as the runs table names them (`config.lr`, `group`); `*` for all config that differs but seeds.
    Empty: every run is a column."""


class CompareColumn(msgspec.Struct):
    """A run, or a group of runs."""

    id: str
    """The run's id; for a group its values as JSON, stable across responses and links."""
    label: str
    runs: list[str]
    values: list[Cell] = []
    """For a group: the value of each key in `by`; None if not set."""


class Compared(msgspec.Struct):
    columns: list[CompareColumn]
    by: list[str]
    """The keys used for grouping, with `*` expanded."""
    gone: list[str] = []
    """Runs that are no longer in the store."""
    omitted: int = 0
    """Number of columns beyond the page's limit."""


@route("POST", "/api/compare/columns")
def compare_columns(ctx: Context, request: CompareRequest) -> Compared:
    """The grouping of runs into columns."""
    return columns_of(ctx, request.runs, request.by)


def columns_of(ctx: Context, runs: Sequence[str], by: Sequence[str]) -> Compared:
    """The columns for these runs, in the order chosen; groups in the order of their values."""
    if len(runs) > MAX_RUNS:
        raise UsageError(f"{len(runs)} runs are too many to compare; choose at most {MAX_RUNS}")
    entries, gone = _entries(ctx, runs)
    if not by:
        columns = [CompareColumn(id=entry.id, label=entry.name, runs=[entry.id]) for entry in entries]
        return _cut(Compared(columns=columns, by=[], gone=gone))
    fields = _fields(by, entries)
    return _cut(Compared(columns=_groups(entries, fields), by=[field_key(one) for one in fields], gone=gone))


def members(ctx: Context, column: CompareColumn) -> list[RunEntry]:
    """The catalog entries of a column's runs."""
    return _entries(ctx, column.runs)[0]


def is_seed(key: str) -> bool:
    """Whether a config key is only a random seed.

    >>> [is_seed(key) for key in ("seed", "data/split_seed", "train.random_state", "seedling")]
    [True, True, True, False]
    """
    return _SEED.search(key) is not None


def _entries(ctx: Context, runs: Sequence[str]) -> tuple[list[RunEntry], list[str]]:
    found: list[RunEntry] = []
    gone: list[str] = []
    for run in dict.fromkeys(runs):
        try:
            found.append(ctx.catalogue.entry(run))
        except NotFound:  # deleted since the page was opened
            gone.append(run)
    return found, gone


def _cut(found: Compared) -> Compared:
    found.omitted = max(0, len(found.columns) - MAX_COLUMNS)
    found.columns = found.columns[:MAX_COLUMNS]
    return found


def _fields(by: Sequence[str], entries: Sequence[RunEntry]) -> list[Field]:
    names = list(dict.fromkeys(by))
    if len(names) > MAX_KEYS:
        raise UsageError(f"{len(names)} keys to group by are too many; choose at most {MAX_KEYS}")
    fields = [parse_field(name) for name in names if name != EVERYTHING]
    return list(dict.fromkeys([*fields, *_differing(entries)] if EVERYTHING in names else fields))


def _differing(entries: Sequence[RunEntry]) -> list[Field]:
    """The config keys with more than one value among these runs, without seeds."""
    seen: dict[str, set[str]] = {}
    for entry in entries:
        for key in entry.config:
            seen.setdefault(key, set())
    for key, values in seen.items():
        if not is_seed(key):
            values.update(_mark(entry.config.get(key)) for entry in entries)
    return [Field("config", key) for key in sorted(seen, key=natural_key) if len(seen[key]) > 1]


class _Group(msgspec.Struct):
    raw: tuple[Any, ...]
    entries: list[RunEntry]


def _groups(entries: Sequence[RunEntry], fields: Sequence[Field]) -> list[CompareColumn]:
    now = time.time()
    found: dict[str, _Group] = {}
    for entry in entries:
        raw = tuple(entry.value(field, now) for field in fields)
        found.setdefault(_mark(raw), _Group(raw, [])).entries.append(entry)
    groups = list(found.values())
    for at in reversed(range(len(fields))):
        groups = ordered(groups, lambda group, at=at: group.raw[at])  # type: ignore[misc]
    return [_group(group, fields) for group in groups]


def _group(group: _Group, fields: Sequence[Field]) -> CompareColumn:
    names = _short_names(fields)
    words = [_words(field, name, value) for field, name, value in zip(fields, names, group.raw, strict=True)]
    label = ", ".join(words) or "all runs"
    return CompareColumn(
        id=_mark(group.raw),
        label=label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…",
        runs=[entry.id for entry in group.entries],
        values=[cell(plain(value)) for value in group.raw],
    )


def _short_names(fields: Sequence[Field]) -> list[str]:
    """The last part of each key, unless another key ends the same way."""
    leaves = [field.name.rpartition("/")[2] for field in fields]
    return [
        leaf if leaf and leaves.count(leaf) == 1 else field.name for field, leaf in zip(fields, leaves, strict=True)
    ]


def _words(field: Field, name: str, value: Any) -> str:
    if value is None or value == []:
        return f"{name} not set"
    said = json.dumps(plain(value), ensure_ascii=False) if isinstance(value, (dict, list)) else str(cell(value))
    return said if field.source == "run" and field.name in ("group", "project", "name") else f"{name} {said}"


def _mark(value: Any) -> str:
    """A value as unambiguous text: 1, 1.0, True and "1" are all different."""
    return json.dumps(plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
