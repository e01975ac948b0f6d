"""The *Runs* page: a page of the filtered, sorted and grouped table of runs."""

from __future__ import annotations

import time

import msgspec

from stepscope.errors import QueryError
from stepscope.records import Status
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.ordering import grouped
from stepscope.runs.catalogue.selection import Selection
from stepscope.runs.query.query import Field, parse_field
from stepscope.views.best import best_values
from stepscope.views.context import Context
from stepscope.views.finding_counts import counted
from stepscope.views.group_means import GroupMean, group_means, is_averaged
from stepscope.views.hues import hues_of
from stepscope.views.plain import plain
from stepscope.views.route import route

MAX_ROWS = 1000
MAX_COLUMNS = 200
MAX_IDS = 10_000

Cell = float | str | bool | None
"""NaN and infinities are encoded as the strings "NaN", "Infinity" and "-Infinity": JSON has no numbers for them."""


class RunColumn(msgspec.Struct):
    """A column that the table can show, sort, group and query by."""

    key: str
    """`name`, `status`, `created`, `duration`, `tags`, `project` ..., `config.lr`, `loss.last`, `loss.min` ..."""
    label: str
    source: str
    """run, config or metric"""
    type: str
    """number, text, bool, time, duration"""
    distinct: int = 0
    """Number of distinct values over the runs seen; 1 means it does not differ."""


class RunRow(msgspec.Struct):
    id: str
    name: str
    project: str
    status: Status
    created: float
    duration_s: float
    tags: list[str]
    notes: str
    cells: list[Cell]
    """Aligned with the request's `columns`."""
    spark: list[float | None]
    """About 40 values of the main metric, for a sparkline; None where not finite."""
    findings: int = 0
    """Errors and warnings, including those of the stored run if it was diagnosed."""
    errors: int = 0
    """Those that are errors."""
    dropped: int = 0
    version: int = 0
    """Increases whenever anything in the run changes."""
    hue: int = 0
    """Its index in the palette; see `hues.py`."""


class RunGroup(msgspec.Struct):
    """Runs that share the value of the grouping column."""

    value: Cell
    count: int
    ids: list[str]
    means: list[GroupMean | None] = []
    """Aligned with the request's `columns`; None if the column is not a metric or no run has a number."""


class RunsRequest(msgspec.Struct):
    query: str = ""
    runs: list[str] = []
    """Only these; none for all that match the query."""
    sort: str = "created"
    descending: bool = True
    columns: list[str] = []
    group_by: str | None = None
    offset: int = 0
    limit: int = 200
    archived: bool = False
    """Also runs with the tag `archived`."""
    ids: int = 0
    """Number of matching ids to include (at most 10,000): for "select all", not for each page of a table."""


class RunsPage(msgspec.Struct):
    rows: list[RunRow]
    matched: int
    """Number of matching runs."""
    total: int
    """Number of runs in the store."""
    ids: list[str]
    """The requested number of matching ids, in order."""
    groups: list[RunGroup] | None
    version: int
    """The catalog's version, to compare with live events."""
    unread: int = 0
    """Runs that a long first scan has found but not read yet; the response covers the others."""
    exact: bool = True
    """Whether `matched` is exact. A server with very many runs estimates slow counts."""
    best: list[float | None] = []
    """For each requested column, the best value over all matching runs; None if the goal is unknown or all runs are
    equal."""


class Columns(msgspec.Struct):
    columns: list[RunColumn]
    default: list[str]
    """The default columns: config that differs between runs, and the main metrics."""


class ColumnsRequest(msgspec.Struct):
    query: str = ""
    """Only the columns of runs that match this."""
    runs: list[str] = []
    """Only the columns of these runs."""


@route("POST", "/api/runs")
def runs(ctx: Context, request: RunsRequest) -> RunsPage:
    """A page of the table."""
    catalogue = ctx.catalogue
    version = catalogue.version  # before the entries: a change in between then counts as news
    asked = Selection(
        query=request.query,
        sort=request.sort,
        descending=request.descending,
        group_by=request.group_by,
        archived=request.archived,
        runs=frozenset(request.runs) if request.runs else None,
    )
    page = catalogue.page(asked, max(0, request.offset), min(max(0, request.limit), MAX_ROWS))
    wanted_ids = min(max(0, request.ids), MAX_IDS)
    fields = [_field(column) for column in request.columns[:MAX_COLUMNS]]
    now = time.time()
    of_run = hues_of(ctx, page.entries)
    return RunsPage(
        rows=[_row(entry, fields, now, of_run.get(entry.id, 0)) for entry in page.entries],
        matched=page.matched,
        exact=page.exact,
        total=len(catalogue),
        ids=[entry.id for entry in catalogue.page(asked, 0, wanted_ids).entries] if wanted_ids else [],
        groups=None if request.group_by is None else _groups(ctx, asked, parse_field(request.group_by), fields, now),
        version=version,
        unread=catalogue.unread,
        best=best_values(catalogue, version, asked, fields),
    )


@route("POST", "/api/columns")
def columns(ctx: Context, request: ColumnsRequest) -> Columns:
    """The available columns, and the default ones."""
    asked = Selection(request.query, runs=frozenset(request.runs) if request.runs else None)
    found, default = ctx.catalogue.table_columns(asked)
    shown = [
        RunColumn(key=one.key, label=one.label, source=one.source, type=one.type, distinct=one.distinct)
        for one in found
    ]
    return Columns(columns=shown, default=default)


def cell(value: object) -> Cell:
    """A value as the table shows it.

    >>> [cell(value) for value in (0.1, True, None, ["a", "b"], float("-inf"), 2**60)]
    [0.1, True, None, 'a, b', '-Infinity', '1152921504606846976']
    """
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    found: Cell = plain(value) if value is None or isinstance(value, (bool, str, int, float)) else str(value)
    return found


def _field(column: str) -> Field | None:
    """A column from an old link may no longer exist: its cells are empty, but the table still opens."""
    try:
        return parse_field(column)
    except QueryError:
        return None


def _row(entry: RunEntry, fields: list[Field | None], now: float, hue: int) -> RunRow:
    errors, findings = counted(entry.id)
    return RunRow(
        id=entry.id,
        name=entry.name,
        project=entry.project,
        status=entry.status,
        created=entry.created,
        duration_s=entry.duration_s,
        tags=entry.tags,
        notes=entry.notes,
        cells=[None if field is None else cell(entry.value(field, now)) for field in fields],
        spark=entry.spark,
        findings=max(findings, entry.findings),
        errors=max(errors, entry.errors),
        dropped=entry.dropped,
        version=entry.version,
        hue=hue,
    )


def _groups(ctx: Context, asked: Selection, by: Field, fields: list[Field | None], now: float) -> list[RunGroup]:
    found = ctx.catalogue.selected(asked)
    ctx.catalogue.prefetch(found, [one for one in fields if one is not None and is_averaged(one)])
    return [
        RunGroup(
            value=cell(value),
            count=len(members),
            ids=[entry.id for entry in members[:MAX_IDS]],
            means=group_means(members, fields, now),
        )
        for value, members in grouped(found, lambda entry: entry.value(by, now))
    ]
