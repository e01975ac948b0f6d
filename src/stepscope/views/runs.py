"""The *Runs* page: a window of the filtered, sorted and grouped table of runs."""

from __future__ import annotations

import msgspec

from stepscope.records import Status
from stepscope.views.context import Context
from stepscope.views.route import route

Cell = float | str | bool | None
"""NaN and infinities travel as the strings "NaN", "Infinity" and "-Infinity": JSON has no numbers for them."""


class Column(msgspec.Struct):
    """Something the table can show, sort, group and query by."""

    key: str
    """`name`, `status`, `created`, `duration`, `tags`, `project` ..., `config.lr`, `loss.last`, `loss.min` ..."""
    label: str
    source: str
    """run, config or metric"""
    type: str
    """number, text, bool, time, duration"""
    distinct: int = 0
    """How many different values it has over the runs seen; 1 means it does not differ."""


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
    """About 40 values of the main loss, for a tiny line; None where not finite."""
    findings: int = 0
    dropped: int = 0
    version: int = 0
    """Grows whenever anything in the run changed."""


class RunGroup(msgspec.Struct):
    """Runs that share the value of the grouping column."""

    value: Cell
    count: int
    ids: list[str]


class RunsRequest(msgspec.Struct):
    query: str = ""
    sort: str = "created"
    descending: bool = True
    columns: list[str] = []
    group_by: str | None = None
    offset: int = 0
    limit: int = 200
    archived: bool = False


class RunsPage(msgspec.Struct):
    rows: list[RunRow]
    matched: int
    """Runs that match the query."""
    total: int
    """Runs in the store."""
    ids: list[str]
    """All matching ids in order (up to 10,000), so that "select all" and shift-click need no second request."""
    groups: list[RunGroup] | None
    version: int
    """The catalogue's version, to compare with live events."""


class Columns(msgspec.Struct):
    columns: list[Column]
    default: list[str]
    """The columns to show first: config that differs between runs, and the main metrics."""


class ColumnsRequest(msgspec.Struct):
    query: str = ""
    """Only the columns that runs matching this have."""


@route("POST", "/api/runs")
def runs(ctx: Context, request: RunsRequest) -> RunsPage:
    """A window of the table."""
    raise NotImplementedError


@route("POST", "/api/columns")
def columns(ctx: Context, request: ColumnsRequest) -> Columns:
    """What the table can show, and what to show first."""
    raise NotImplementedError
