"""A table of the runs: some of their config and metrics."""

from __future__ import annotations

import time

from msgspec.structs import replace

from stepscope.common.units import duration
from stepscope.errors import QueryError, UsageError
from stepscope.runs.query.query import parse_field
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind, names_of
from stepscope.views.report.pictures import Marked, Pictures
from stepscope.views.runs import Cell, Columns, ColumnsRequest, RunsPage, RunsRequest, columns, runs

MOST_COLUMNS = 40


class TableOptions(Options, kw_only=True):
    columns: str | list[str] = ""
    """`config.lr, val/acc.max`; by default the config that differs and the main metrics."""
    sort: str = "created"
    descending: bool = True


def check(bound: Bound) -> None:
    options: TableOptions = bound.options
    names = names_of(options.columns)
    if len(names) > MOST_COLUMNS:
        raise UsageError(f"a table has up to {MOST_COLUMNS} columns, not {len(names)}; name fewer")
    for name in [*names, options.sort]:
        try:
            parse_field(name)
        except QueryError as error:
            raise UsageError(f"a table has no column {name[:60]!r}: {error.message}") from error


def pack(bound: Bound, packing: Packing) -> None:
    names = [name for name in names_of(bound.options.columns) if name != "name"]
    if not names:
        found = packing.ask("POST /api/columns", ColumnsRequest(runs=bound.runs), _few_columns)
        names = [name for name in found.default if name != "name"] if found else []
    packing.ask("POST /api/runs", _request(bound, names), without_notes, ("runs", "columns", "sort", "descending"))


def _request(bound: Bound, names: list[str]) -> RunsRequest:
    """Archived runs are shown too: the report names them."""
    options: TableOptions = bound.options
    return RunsRequest(
        runs=bound.runs,
        columns=names,
        sort=options.sort,
        descending=options.descending,
        limit=len(bound.runs),
        archived=True,
    )


def write(bound: Bound, out: Pictures) -> str:
    there = columns(bound.ctx, ColumnsRequest(runs=bound.runs))
    known = {one.key: one for one in there.columns}
    names = [name for name in names_of(bound.options.columns) or there.default if name != "name"]
    page = runs(bound.ctx, _request(bound, names))
    head = ["run", "status", *(known[name].label if name in known else name for name in names)]
    rows = []
    for row in page.rows:
        cells = [
            _cell(value, best, known[name].type if name in known else "text")
            for name, value, best in zip(names, row.cells, page.best, strict=True)
        ]
        rows.append([row.name, row.status, *cells])
    numbers = {at for at, name in enumerate(names, 2) if name in known and known[name].type in ("number", "duration")}
    return out.table(head, rows, numbers)


def _cell(value: Cell, best: float | None, type: str) -> Cell:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if type == "time":
            return time.strftime("%Y-%m-%d %H:%M", time.gmtime(value)) + " UTC"
        if type == "duration":
            return duration(value)
        if best is not None and value == best:
            return Marked(f"**{value:.6g}**")
    return value


def without_notes(page: RunsPage) -> RunsPage:
    """Only what a table shows: notes and the size of the store are removed."""
    return replace(page, rows=[replace(row, notes="") for row in page.rows], total=page.matched, version=0)


def _few_columns(found: Columns) -> Columns:
    """The default columns: a store may have thousands of others."""
    return replace(found, columns=[one for one in found.columns if one.key in found.default])


PANEL = PanelKind("table", "A table of the runs", TableOptions, pack, write, check)
