"""How an answer leaves: structs as JSON, our errors as a `Problem`, larger ones compressed."""

from __future__ import annotations

import gzip
import logging
import secrets
from html import escape

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from stepscope.errors import QueryError, StepscopeError
from stepscope.server.headers import SAFE
from stepscope.server.plain_pages import plain_page
from stepscope.views.route import Problem

log = logging.getLogger("stepscope.server")

COMPRESS_FROM = 1024
_encoder = msgspec.json.Encoder()  # writes NaN and infinities as null: always valid JSON


def json_response(body: msgspec.Struct, accept_encoding: str = "", status: int = 200) -> Response:
    """A struct as JSON, gzipped at level 1: a chart's numbers hardly get smaller at the slow levels."""
    data = _encoder.encode(body)
    headers = {"vary": "accept-encoding"}
    if len(data) > COMPRESS_FROM and "gzip" in accept_encoding:
        data = gzip.compress(data, compresslevel=1, mtime=0)
        headers["content-encoding"] = "gzip"
    return Response(data, status, headers, media_type="application/json")


def refusal(status: int, error: str, hint: str | None = None) -> Response:
    return json_response(Problem(error=error, hint=hint), status=status)


async def problem(request: Request, error: Exception) -> Response:
    """One of our own errors: its message is written for the person who reads it."""
    assert isinstance(error, StepscopeError)
    if not request.url.path.startswith("/api") and "text/html" in request.headers.get("accept", ""):
        words = str(error)
        return plain_page("This did not work", f"<p>{escape(words[:1].upper() + words[1:])}</p>", error.http_status)
    if isinstance(error, QueryError):
        return json_response(Problem(error=error.message, position=error.position), status=error.http_status)
    return json_response(Problem(error=str(error)), status=error.http_status)


async def failure(request: Request, error: Exception) -> Response:
    """An internal error: the details stay in the server's log, under a number the page can show."""
    number = secrets.token_hex(4)
    log.error("error %s in %s %s", number, request.method, request.url.path, exc_info=error)
    body = Problem(
        error=f"Something went wrong inside Stepscope (error {number}).",
        hint="The terminal that runs the server shows the details.",
        id=number,
    )
    answer = json_response(body, status=500)
    answer.headers.update(SAFE)  # this one is sent from outside our middleware
    return answer
