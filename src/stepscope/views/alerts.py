"""The list behind the bell: notices about runs, including those sent while no page was open."""

from __future__ import annotations

import msgspec

from stepscope.views.context import Context
from stepscope.views.notice import Notice
from stepscope.views.route import Empty, route


class Alerts(msgspec.Struct):
    alerts: list[Notice]
    """Latest first."""
    outlets: list[str] = []
    """Other channels for alerts: `desktop`, `webhook (hooks.example.com)`."""


@route("POST", "/api/alerts")
def alerts(ctx: Context, request: Empty) -> Alerts:
    """The notices sent so far, and the other channels."""
    return Alerts(alerts=list(ctx.alerts.history()), outlets=list(ctx.outlets))
