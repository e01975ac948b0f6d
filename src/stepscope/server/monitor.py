"""What an operator asks a server: `/healthz` (is it there?), `/metrics` (how is it doing?), and one log line a request.

`/healthz` needs no token and says nothing about runs: a proxy or Kubernetes asks it every few seconds. `/metrics` is
behind the guard like everything else; Prometheus sends the token (`authorization: credentials_file`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stepscope.errors import MissingExtra
from stepscope.server.answers import json_response

if TYPE_CHECKING:
    from stepscope.runs.catalogue.catalogue import Catalogue
    from stepscope.views.live import Hub

log = logging.getLogger("stepscope.access")

_SLOW = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 10.0)


class _Healthy(msgspec.Struct):
    status: str
    problems: dict[str, str]


class Health:
    """Whether this process should get requests. Checks are cheap and say None, or what is wrong."""

    def __init__(self) -> None:
        self.stopping = False
        self.checks: dict[str, Callable[[], str | None]] = {}

    def problems(self) -> dict[str, str]:
        found = {name: said for name, check in self.checks.items() if (said := check()) is not None}
        return {"server": "it is stopping", **found} if self.stopping else found


class Meters:
    """The numbers behind `/metrics`. One set for each app, so that tests and notebooks do not share them."""

    def __init__(self) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
        except ImportError:
            raise MissingExtra("a team server", "prometheus-client", extra="server") from None
        self.registry = CollectorRegistry()
        kind = ("method", "area")
        self.seconds = Histogram(
            "stepscope_request_seconds", "Time to answer.", kind, buckets=_SLOW, registry=self.registry
        )
        self.requests = Counter("stepscope_requests", "Answers.", (*kind, "status"), registry=self.registry)
        self.received = Counter(
            "stepscope_received_bytes", "Bytes of request bodies.", ("area",), registry=self.registry
        )
        self.inside = Gauge("stepscope_requests_in_progress", "Requests being answered.", registry=self.registry)
        self._gauge = Gauge

    def gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        """A number that is looked up when somebody asks."""
        self._gauge(name, about, registry=self.registry).set_function(value)

    def watch(self, catalogue: Catalogue, hub: Hub) -> None:
        self.gauge("stepscope_runs", "Runs in the catalogue.", lambda: len(catalogue))
        self.gauge("stepscope_pages_open", "Pages that receive live updates.", lambda: len(hub))

    def text(self) -> bytes:
        from prometheus_client import generate_latest

        return generate_latest(self.registry)


class _Text(Protocol):
    def text(self) -> bytes: ...


def metrics_route(meters: _Text) -> Route:
    async def metrics(request: Request) -> Response:
        text = await run_in_threadpool(meters.text)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    return Route("/metrics", metrics, methods=["GET"])


class Monitor:
    """ASGI middleware, the outermost: counts what the guard refuses too."""

    def __init__(self, app: ASGIApp, health: Health, meters: Meters | None = None) -> None:
        self.app, self.health, self.meters = app, health, meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["path"] == "/healthz" and scope["method"] in ("GET", "HEAD"):
            await self._healthy()(scope, receive, send)
            return
        if self.meters is None:
            await self.app(scope, receive, send)
            return
        await self._metered(self.meters, scope, receive, send)

    def _healthy(self) -> Response:
        problems = self.health.problems()
        answer = json_response(_Healthy("failing" if problems else "ok", problems))
        answer.status_code = 503 if problems else 200
        return answer

    async def _metered(self, meters: Meters, scope: Scope, receive: Receive, send: Send) -> None:
        area, method = _area(scope["path"]), scope["method"] if scope["method"] in _METHODS else "other"
        began, status, received = time.perf_counter(), 0, 0

        async def heard() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            return message

        async def said(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        meters.inside.inc()
        try:
            await self.app(scope, heard, said)
        finally:
            took = time.perf_counter() - began
            meters.inside.dec()
            meters.requests.labels(method, area, str(status or "none")).inc()
            meters.received.labels(area).inc(received)
            if area != "live":  # a stream lasts as long as its page
                meters.seconds.labels(method, area).observe(took)
            facts = {"method": method, "path": scope["path"][:200], "status": status, "ms": round(took * 1000, 1)}
            log.info("%s %s %s", method, facts["path"], status, extra={"facts": {**facts, "received": received}})


_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")


def _area(path: str) -> str:
    """A few words for many addresses: run ids and file names would make a series each.

    >>> [_area(path) for path in ("/api/sync/01ABC/meta.json", "/api/live", "/api/runs", "/runs/01ABC")]
    ['sync', 'live', 'api', 'page']
    """
    if not path.startswith("/api/"):
        return "page"
    first = path.split("/")[2]
    return first if first in ("sync", "live", "blob", "lines") else "api"
