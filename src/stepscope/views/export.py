"""A run's series as a CSV file, for a spreadsheet."""

from __future__ import annotations

import msgspec

from stepscope.views.context import Context
from stepscope.views.route import Download, route


class ExportRequest(msgspec.Struct):
    run: str
    keys: list[str] = []
    """Which series; none for all."""


@route("GET", "/api/export/{run}.csv")
def export(ctx: Context, request: ExportRequest) -> Download:
    """Every point (not only what a chart shows) of the chosen series."""
    raise NotImplementedError
