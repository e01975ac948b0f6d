"""The guard in front of everything: a request that is not clearly fine is refused before any route sees it.

In this order: the Host header names this server (DNS rebinding) · the caller has the token (other users, other
pages) · the request was made by our own page or by a script, not by a page from elsewhere (cross-site requests).
A new route needs nothing to be protected. One address has a token of its own instead: a shared report (`shared.py`).
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from stepscope.server.answers import refusal
from stepscope.server.protocol import ADMITTED
from stepscope.server.settings import Settings
from stepscope.server.shared import SharedGate, is_shared
from stepscope.sync.wire import TYPE as PIECE_TYPE

__all__ = ["Codes", "Guard"]

_HOST = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?")

# The link is for somebody who came from another site: their browser held back our cookie, and sends it from here.
_NEEDS_TOKEN = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Stepscope</title>
<h1>This page needs its access token</h1>
<p>Open the whole address that <code>stepscope ui</code> printed in the terminal,
with its <code>?token=</code> part.</p>
<p>Did you already do so in this browser, and followed a link here? <a href="">Continue</a></p></html>"""


class Codes:
    """Single-use codes that stand in for the token where others could see it: a browser's command line."""

    def __init__(self, lifetime_s: float = 60.0) -> None:
        self._lifetime_s = lifetime_s
        self._codes: dict[str, float] = {}

    def make(self) -> str:
        code = secrets.token_urlsafe(24)
        self._codes[code] = time.monotonic() + self._lifetime_s
        return code

    def redeem(self, code: str) -> bool:
        return self._codes.pop(code, 0.0) > time.monotonic()


class Guard:
    """ASGI middleware; not Starlette's base class, which would hold back streams."""

    def __init__(self, app: ASGIApp, settings: Settings, codes: Codes) -> None:
        self.app = app
        self.settings = settings
        self.codes = codes
        token = settings.token or ""
        self.shared = SharedGate(app)
        self.cookie = hmac.new(token.encode(), b"stepscope cookie", hashlib.sha256).hexdigest()

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
                self._check_host(headers) or self._check_token(scope, headers) or self._check_origin(scope, headers)
            )
            if answer is not None:
                if answer.status_code in (401, 403):
                    answer.headers["connection"] = "close"  # a stranger's next try costs a connection
                await answer(scope, receive, send)
                return
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

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        known = self._is_known(scope, headers)
        if scope["method"] in ("GET", "HEAD") and not _is_api(scope) and b"token=" in scope["query_string"]:
            query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
            given = [value for name, value in query if name == "token"]
            admitted = bool(given) and self._is_token(given[-1])
            if admitted or known:
                return self._clean_redirect(scope, query, admitted)
        if known:
            return None
        if _is_api(scope) or "text/html" not in headers.get("accept", ""):
            hint = "Open the address that was printed, or send `Authorization: Bearer TOKEN`."
            return refusal(401, "This server needs its access token.", hint)
        return HTMLResponse(_NEEDS_TOKEN, 401)

    def _is_known(self, scope: Scope, headers: Headers) -> bool:
        if self.settings.token is None:
            return True
        kind, _, credential = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and _same(credential.strip(), self.settings.token):
            return True
        name = _cookie_name(scope)
        pairs = (pair.strip().partition("=") for pair in headers.get("cookie", "").split(";"))
        return any(key == name and _same(value, self.cookie) for key, _, value in pairs)

    def _is_token(self, given: str) -> bool:
        return self.settings.token is not None and (_same(given, self.settings.token) or self.codes.redeem(given))

    def _clean_redirect(self, scope: Scope, query: list[tuple[str, str]], admitted: bool) -> Response:
        """The same address without the token, so that it stays out of history, bookmarks and screenshots."""
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + quote(scope["path"].lstrip("/\\"))  # "//evil.example" would lead elsewhere
        answer = RedirectResponse(path + ("?" + rest if rest else ""), 303)
        if admitted:
            secure = scope["scheme"] == "https"
            answer.set_cookie(_cookie_name(scope), self.cookie, httponly=True, samesite="strict", secure=secure)
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
        if headers.get("content-type", "").partition(";")[0].strip().lower() not in ("application/json", PIECE_TYPE):
            return refusal(403, "A request with a body must be application/json.")
        if headers.get("x-stepscope") != "1":
            return refusal(403, "A request with a body must carry the header `X-Stepscope: 1`.")
        return None


def _is_api(scope: Scope) -> bool:
    return str(scope["path"]).startswith("/api/") or scope["path"] == "/api"


def _cookie_name(scope: Scope) -> str:
    """Browsers share cookies between the ports of a host; the port in the name keeps two servers apart."""
    server = scope.get("server")
    return f"stepscope-{server[1] if server else 0}"


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())
