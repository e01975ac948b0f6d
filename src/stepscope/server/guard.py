"""The guard in front of everything: a request that is not clearly fine is refused before any route sees it.

In this order: the Host header names this server (DNS rebinding) · the caller is known (other users, other
pages) · the request was made by our own page or by a script, not by a page from elsewhere (cross-site requests).
A new route needs nothing to be protected. One address has a token of its own instead: a shared report (`shared.py`).
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from stepscope.server.answers import refusal
from stepscope.server.doors import CALLER, INVITATION, Cookie, Door, cookie_name
from stepscope.server.plain_pages import plain_page
from stepscope.server.protocol import ADMITTED
from stepscope.server.settings import Settings
from stepscope.server.shared import SharedGate, is_shared
from stepscope.sync.wire import TYPE as PIECE_TYPE

_HOST = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?")

# For somebody who came from another site: their browser held back our cookie, and sends it from here.
_CAME_BY_LINK = '<p>Did you already do so in this browser, and followed a link here? <a href="">Continue</a></p>'
_PUBLIC = ("POST /api/login", f"POST {INVITATION}", "GET /login", "GET /login/done")
_FORM = "application/x-www-form-urlencoded"


class Guard:
    """ASGI middleware; not Starlette's base class, which would hold back streams."""

    def __init__(self, app: ASGIApp, settings: Settings, door: Door) -> None:
        self.app = app
        self.settings = settings
        self.door = door
        self.shared = SharedGate(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # we have none, so nobody has a reason to ask
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if is_shared(scope) and self._check_host(headers) is None:
                await self.shared(scope, receive, send)
                return
            answer = (
                self._check_host(headers)
                or (None if _is_public(scope) else await self._check_caller(scope, headers))
                or self._check_origin(scope, headers)
            )
            if answer is not None:
                if answer.status_code in (401, 403):
                    answer.headers["connection"] = "close"  # a stranger's next try costs a connection
                await answer(scope, receive, send)
                return
            if CALLER in scope:
                scope[ADMITTED] = True
        await self.app(scope, receive, send)

    # -- who does the caller think we are? ------------------------------------------------------------------

    def _check_host(self, headers: Headers) -> Response | None:
        hosts = headers.getlist("host")
        match = _HOST.fullmatch(hosts[0].lower()) if len(hosts) == 1 else None
        if match is not None and self.settings.allows_host(match[1]):
            return None
        named = repr(hosts[0][:100]) if len(hosts) == 1 else f"{len(hosts)} names"
        return refusal(
            403,
            f"This server does not go by {named}.",
            "Use the address that was printed, or start it with --allow-host NAME.",
        )

    # -- who is the caller? ---------------------------------------------------------------------------------

    async def _check_caller(self, scope: Scope, headers: Headers) -> Response | None:
        known, wrong = await self.door.caller(scope, headers), ""
        if scope["method"] in ("GET", "HEAD") and not _is_api(scope) and b"token=" in scope["query_string"]:
            query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            given = [value for name, value in query if name == "token"]
            welcome = await self.door.welcome(given[-1]) if given else None
            if welcome is not None:
                return welcome
            cookie = await self.door.admit(given[-1], known) if given else None
            if cookie is not None or known is not None:
                return self._clean_redirect(scope, query, cookie)
            wrong = f"<p>{await self.door.about(given[-1])}</p>" if given else ""
        if known is not None:
            scope[CALLER] = known
            return None
        if _is_api(scope) or "text/html" not in headers.get("accept", ""):
            return refusal(401, *await self.door.refusal(headers))
        return plain_page(self.door.title, f"{wrong}<p>{self.door.where}</p>{_CAME_BY_LINK}", 401)

    def _clean_redirect(self, scope: Scope, query: list[tuple[str, str]], cookie: Cookie | None) -> Response:
        """The same address without the token, so that it stays out of history, bookmarks and screenshots."""
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + quote(scope["path"].lstrip("/\\"))  # "//evil.example" would lead elsewhere
        answer = RedirectResponse(path + ("?" + rest if rest else ""), 303)
        if cookie is not None:
            secure = scope["scheme"] == "https"
            answer.set_cookie(
                cookie_name(scope),
                cookie.value,
                cookie.lifetime_s,
                httponly=True,
                samesite=cookie.samesite,
                secure=secure,
            )
        return answer

    # -- who made the caller ask? ---------------------------------------------------------------------------

    def _check_origin(self, scope: Scope, headers: Headers) -> Response | None:
        reads = scope["method"] in ("GET", "HEAD")
        if reads and not _is_api(scope):  # a link to a page may stand anywhere
            return None
        site = headers.get("sec-fetch-site", "same-origin")
        origin = headers.get("origin")
        foreign = origin is not None and origin.partition("://")[2] != headers["host"]
        if foreign or (site != "same-origin" and not (reads and site == "none")):
            return refusal(403, "Requests from other sites are refused.")
        if reads:
            return None
        # A page from elsewhere can send neither type, nor our header, without asking first; and we never say yes.
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["path"] == INVITATION and kind == _FORM and origin is not None:
            return None  # the form of our own page, as its origin says
        if kind not in ("application/json", PIECE_TYPE):
            return refusal(403, "A request with a body must be application/json.")
        if headers.get("x-stepscope") != "1":
            return refusal(403, "A request with a body must carry the header `X-Stepscope: 1`.")
        return None


def _is_api(scope: Scope) -> bool:
    return str(scope["path"]).startswith("/api/") or scope["path"] == "/api"


def _is_public(scope: Scope) -> bool:
    """Calls that a stranger may make: they check for themselves what they are given."""
    return f"{scope['method']} {scope['path']}" in _PUBLIC
