"""Config and environment of the columns side by side, and what differs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from stepscope.common.units import bytes_text
from stepscope.errors import StepscopeError
from stepscope.records import RunMeta
from stepscope.runs.catalogue.ordering import natural_key
from stepscope.views.compare.columns import Compared, columns_of, members
from stepscope.views.context import Context
from stepscope.views.plain import plain
from stepscope.views.route import route

MAX_ROWS = 5000
MAX_OPENED = 40
"""Runs must be opened to read their machine and packages; more than this would be slow."""
OPEN_S = 6.0
LONGEST = 4000
MOST_VALUES = 4
"""Distinct values inside a group that are listed one by one."""

Facts = dict[str, str]


class FactsRequest(msgspec.Struct):
    runs: list[str]
    by: list[str] = []
    all: bool = False
    """Also include values that are the same everywhere."""


class FactRow(msgspec.Struct):
    key: str
    values: list[str | None]
    """Aligned with the columns; None if not set. A group with several values lists them, separated by ` | `."""
    differs: bool
    """Between columns."""
    mixed: list[int] = []
    """Columns whose own runs differ in it."""


class FactSection(msgspec.Struct):
    title: str
    rows: list[FactRow]
    same: int
    """Number of further keys that are the same everywhere."""
    omitted: int = 0


class FactSheet(msgspec.Struct):
    compared: Compared
    sections: list[FactSection]
    unread: list[str] = []
    """Runs that were not read, in words: too many, or damaged."""


@route("POST", "/api/compare/config")
def compare_config(ctx: Context, request: FactsRequest) -> FactSheet:
    """The config of every column, from the catalog: quick for any number of runs."""
    compared = columns_of(ctx, request.runs, request.by)
    facts = [
        [{key: said_value(value) for key, value in entry.config.items()} for entry in members(ctx, column)]
        for column in compared.columns
    ]
    return FactSheet(compared=compared, sections=[_section("Config", facts, request.all)])


@route("POST", "/api/compare/environment")
def compare_environment(ctx: Context, request: FactsRequest) -> FactSheet:
    """Code, packages, machine and environment variables of the first columns."""
    compared = columns_of(ctx, request.runs, request.by)
    reader = _Reader(ctx)
    metas = [reader.read(column.runs) for column in compared.columns]
    looked = [[environment_facts(meta) for meta in group] for group in metas]
    titles = list(dict.fromkeys(title for group in looked for facts in group for title in facts))
    sections = [
        _section(title, [[facts.get(title, {}) for facts in group] for group in looked], request.all)
        for title in titles
    ]
    return FactSheet(compared=compared, sections=sections, unread=reader.words())


class _Reader:
    """Opens runs up to a limit, and reports which it did not."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._deadline = time.monotonic() + OPEN_S
        self._opened = 0
        self._left = 0
        self._broken: list[str] = []

    def read(self, runs: Iterable[str]) -> list[RunMeta]:
        found = []
        for run in runs:
            if self._opened >= MAX_OPENED or time.monotonic() > self._deadline:
                self._left += 1
                continue
            self._opened += 1
            try:
                found.append(self._ctx.runs.get(run).meta)
            except StepscopeError as error:  # deleted meanwhile, or its files are damaged
                self._broken.append(str(error))
        return found

    def words(self) -> list[str]:
        runs = "1 run was" if self._left == 1 else f"{self._left} runs were"
        left = [f"{runs} not read: only the first {self._opened} were"] if self._left else []
        return left + self._broken[:20]


def environment_facts(meta: RunMeta) -> dict[str, Facts]:
    """A run's environment, by section, as text."""
    git = meta.git
    code = {
        "command": " ".join(meta.command),
        "script": meta.script or "",
        "folder": meta.cwd,
        "commit": git.commit if git else "",
        "branch": (git.branch or "") if git else "",
        "remote": (git.remote or "") if git else "",
        "uncommitted changes": ("yes" if git.dirty else "no") if git else "",
    }
    machine = {
        "host": meta.host,
        "user": meta.user,
        "python": meta.python,
        "platform": meta.platform,
        "stepscope": meta.stepscope,
        **{key: _hardware(key, value) for key, value in meta.hardware.items()},
    }
    sections = {"Code": code, "Machine": machine, "Packages": dict(meta.packages), "Environment": dict(meta.env)}
    return {title: {key: cut(value) for key, value in facts.items() if value} for title, facts in sections.items()}


def _hardware(key: str, value: Any) -> str:
    if key.endswith("_bytes") and isinstance(value, (int, float)):
        return bytes_text(value)
    if isinstance(value, list) and value and all(isinstance(one, dict) and "name" in one for one in value):
        names = [str(one["name"]) for one in value]
        return ", ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names))
    return said_value(value)


def said_value(value: Any) -> str:
    """A config value as text: strings bare, everything else as JSON."""
    return cut(value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False))


def cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text) - LONGEST} more characters)"


def _section(title: str, columns: Sequence[Sequence[Facts]], everything: bool) -> FactSection:
    """`columns` has, for each column, the facts of each of its runs."""
    keys = sorted({key for group in columns for facts in group for key in facts}, key=natural_key)
    rows = [_row(key, columns) for key in keys]
    shown = rows if everything else [row for row in rows if row.differs or row.mixed]
    omitted = max(0, len(shown) - MAX_ROWS)
    return FactSection(title=title, rows=shown[:MAX_ROWS], same=len(rows) - len(shown), omitted=omitted)


def _row(key: str, columns: Sequence[Sequence[Facts]]) -> FactRow:
    values: list[str | None] = []
    mixed = []
    for at, group in enumerate(columns):
        found = list(dict.fromkeys(facts.get(key) for facts in group))
        if len(found) > 1:
            mixed.append(at)
        values.append(_one(sorted(found, key=lambda value: natural_key(value or ""))))
    looked = [value for value, group in zip(values, columns, strict=True) if group]  # unread runs do not count
    return FactRow(key=key, values=values, differs=len(set(looked)) > 1, mixed=mixed)


def _one(found: Sequence[str | None]) -> str | None:
    if len(found) <= 1:
        return found[0] if found else None
    named = [value if value is not None else "not set" for value in found[:MOST_VALUES]]
    more = f" | {len(found) - MOST_VALUES} more" if len(found) > MOST_VALUES else ""
    return cut(" | ".join(named) + more)
