"""Turns a view into an HTTP endpoint: request struct in, JSON, bytes or a stream out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from stepscope.common.units import bytes_text
from stepscope.errors import StepscopeError, UsageError
from stepscope.files.decoding import MALFORMED
from stepscope.server.answers import json_response
from stepscope.server.downloads import download_response
from stepscope.server.settings import Settings
from stepscope.server.stream import EventStream
from stepscope.views.route import Download, Route

Endpoint = Callable[[Request], Awaitable[Response]]


class TooLarge(StepscopeError):
    http_status = 413


def endpoint(
    route: Route,
    context_of: Callable[[Request], Any],
    settings: Settings,
    before: Callable[[], None],
    after: Callable[[Request, msgspec.Struct], None] | None = None,
) -> Endpoint:
    """An endpoint that runs the view in a worker thread, after `before` has made sure the data is fresh.

    `after` writes down what was done.
    """

    def work(request: Request, asked: msgspec.Struct, accept_encoding: str, range_header: str) -> Response:
        before()
        result = route.view(context_of(request), asked)
        if after is not None:
            after(request, asked)
        if isinstance(result, Download):
            return download_response(result, range_header, accept_encoding)
        return json_response(result, accept_encoding)

    async def answer(request: Request) -> Response:
        asked = await _asked(route, request, settings.max_body)
        if route.stream:
            return EventStream(route.view(context_of(request), asked), settings.heartbeat_s)
        accepted, span = request.headers.get("accept-encoding", ""), request.headers.get("range", "")
        return await run_in_threadpool(work, request, asked, accepted, span)

    return answer


async def _asked(route: Route, request: Request, max_body: int) -> msgspec.Struct:
    """The request struct, from the body or from path and query."""
    try:
        if route.method == "POST":
            return msgspec.json.decode(await body_of(request, max_body), type=route.request)
        return msgspec.convert(_parameters(route, request), route.request, strict=False)
    except MALFORMED as error:
        raise UsageError(f"{route.name} cannot read the request: {error}") from error
    except ClientDisconnect as error:
        raise UsageError("the request ended before it was complete") from error


def _parameters(route: Route, request: Request) -> dict[str, Any]:
    lists = {field.name for field in msgspec.structs.fields(route.request) if "list" in str(field.type)}
    query = request.query_params
    given: dict[str, Any] = {
        name: query.getlist(name) if name in lists else query[name]
        for name in query
        if name in route.request.__struct_fields__
    }
    return {**given, **request.path_params}


async def body_of(request: Request, max_body: int) -> bytes:
    """The body of a request, refused as soon as it is seen to be too large."""
    too_large = TooLarge(f"the request is larger than {bytes_text(max_body)}, the most this server takes")
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > max_body:
        raise too_large
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > max_body:
            raise too_large
    return bytes(body)
