"""The list behind the bell: what people were told about their runs, also while no page was open."""

from __future__ import annotations

import msgspec

from stepscope.views.context import Context
from stepscope.views.notice import Notice
from stepscope.views.route import Empty, route


class Alerts(msgspec.Struct):
    alerts: list[Notice]
    """The latest first."""
    outlets: list[str] = []
    """Where alerts go besides this page: `desktop`, `webhook (hooks.example.com)`."""


@route("POST", "/api/alerts")
def alerts(ctx: Context, request: Empty) -> Alerts:
    """What was told, and where else it is told."""
    return Alerts(alerts=list(ctx.alerts.history()), outlets=list(ctx.outlets))
