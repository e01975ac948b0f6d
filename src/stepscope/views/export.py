"""A run's series as a CSV file, for a spreadsheet."""

from __future__ import annotations

import re

import msgspec

from stepscope.errors import NotFound
from stepscope.export import export_chunks
from stepscope.runs.format.ids import is_run_id
from stepscope.views.context import Context
from stepscope.views.route import Download, route

_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


class ExportRequest(msgspec.Struct):
    run: str
    keys: list[str] = []
    """Series by name or with `*`; none for all."""


@route("GET", "/api/export/{run}.csv")
def export(ctx: Context, request: ExportRequest) -> Download:
    """Every point (not only those a chart shows) of the chosen series."""
    if not is_run_id(request.run):
        raise NotFound("there is no such run; reload the page")
    folder = ctx.runs.get(request.run)
    name = _NOT_IN_NAMES.sub("-", folder.name).strip("-.") or folder.id
    return Download("text/csv", pieces=export_chunks(folder, "csv", request.keys or None), filename=f"{name}.csv")
