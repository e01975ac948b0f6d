"""The available runs."""

from __future__ import annotations

import time
from typing import Annotated

from pydantic import Field

from stepscope.agents.tool import Answer, Limit, Offset, tool
from stepscope.agents.tool_context import Desk
from stepscope.agents.words import name, table
from stepscope.common.units import ago, duration, number
from stepscope.views.runs import ColumnsRequest, RunsRequest, columns, runs

Query = Annotated[
    str,
    Field(
        description="Empty for all, words that the name has, or conditions: `status = failed`, `project = vae and "
        "config.lr < 0.01`, `loss.min < 0.3`, `findings > 0`, `age < 2d`."
    ),
]
Sort = Annotated[str, Field(description="`created`, `name`, `duration`, `config.lr`, `loss.min` …")]


@tool("List runs")
def list_runs(
    desk: Desk,
    query: Query = "",
    sort: Sort = "created",
    descending: bool = True,
    limit: Limit = 20,
    offset: Offset = 0,
) -> Answer:
    """The training runs in the stores: name, status, age, findings, the config that differs, and main metrics.

    Start here if you do not know which run is meant. Newest first.
    """
    ctx = desk.ctx
    ctx.catalogue.check_field(sort)
    shown = columns(ctx, ColumnsRequest(query=query)).default[:6]
    page = runs(
        ctx,
        RunsRequest(query=query, sort=sort, descending=descending, columns=shown, offset=offset, limit=limit),
    )
    stores = ", ".join(map(str, ctx.catalogue.stores))
    if not page.rows:
        why = f"none of {page.total} matches" if page.total else "there are none yet"
        return Answer(f"No runs: {why} (stores: {stores}).", {"runs": [], "matched": page.matched, "total": page.total})
    heads = ["run", "id", "status", "started", "took", "findings", *(name(one) for one in shown)]
    rows = [
        [
            name(row.name),
            row.id,
            row.status,
            ago(time.time() - row.created),
            duration(row.duration_s),
            str(row.findings),
        ]
        + [name(cell, 40) if isinstance(cell, str) else number(cell) for cell in row.cells]
        for row in page.rows
    ]
    first, last = offset + 1, offset + len(rows)
    lines = [f"Runs {first} to {last} of {page.matched} that match ({page.total} in {stores}).", table(heads, rows)]
    if last < page.matched:
        lines.append(f"More: offset={last}.")
    return Answer("\n".join(lines), {"runs": [_row(row, shown) for row in page.rows], "matched": page.matched})


def _row(row: object, shown: list[str]) -> dict[str, object]:
    kept = ("id", "name", "project", "status", "created", "duration_s", "tags", "findings", "dropped")
    found: dict[str, object] = {key: getattr(row, key) for key in kept}
    found["values"] = dict(zip(shown, row.cells, strict=True))  # type: ignore[attr-defined]
    return found
