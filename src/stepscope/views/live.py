"""What the page is told while runs go on: small notices over server-sent events; data is fetched after."""

from __future__ import annotations

import msgspec

from stepscope.records import Severity


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
