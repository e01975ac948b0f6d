"""What the page is told while runs go on: small notices over server-sent events; data is fetched after."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from stepscope.records import Severity
from stepscope.views.context import Context
from stepscope.views.route import Empty, route


class RunChange(msgspec.Struct):
    id: str
    version: int
    status: str


class Notice(msgspec.Struct):
    """A title and text for the page's notification area: an alert, a lost run, dropped points."""

    run: str
    title: str
    text: str
    level: Severity


class Live(msgspec.Struct):
    """One event of `GET /api/live`: what changed since the last one."""

    version: int
    changed: list[RunChange]
    gone: list[str]
    notices: list[Notice] = []


@route("GET", "/api/live")
async def live(ctx: Context, request: Empty) -> AsyncIterator[Live]:
    """What changes from now on, until the page closes."""
    raise NotImplementedError
    yield
