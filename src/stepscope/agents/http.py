"""The MCP server over HTTP: on this machine only, and only with the token."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from hmac import compare_digest
from pathlib import Path
from typing import Any

from stepscope.agents.sdk import http_app
from stepscope.agents.server import build
from stepscope.errors import ConfigError

HOST = "127.0.0.1"
LEAST_TOKEN = 16

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class TokenGate:
    """Accepts only requests with `Authorization: Bearer TOKEN`. Other users of the machine can reach the port, and so
    can pages in a browser: without the token both are rejected."""

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._has_token(scope):
            headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            body = b"this server needs the token that it printed: Authorization: Bearer TOKEN\n"
            await send({"type": "http.response.body", "body": body})
            return
        if scope["type"] in ("http", "lifespan"):
            await self._app(scope, receive, send)

    def _has_token(self, scope: Scope) -> bool:
        given = [value for key, value in scope["headers"] if key == b"authorization"]
        return len(given) == 1 and compare_digest(given[0], self._wanted)


def serve_http(
    stores: Sequence[Path], port: int, token: str | None, allow_edit: bool, say: Callable[[str], object]
) -> None:
    """Serve until Ctrl-C."""
    import uvicorn

    if token is not None and len(token) < LEAST_TOKEN:
        raise ConfigError(f"a token of {len(token)} characters can be guessed; give {LEAST_TOKEN} or more, or none")
    token = token or secrets.token_urlsafe(24)
    app = TokenGate(http_app(build(stores, allow_edit)), token)
    say(f"MCP at http://{HOST}:{port}/mcp\nAuthorization: Bearer {token}")
    uvicorn.run(app, host=HOST, port=port, log_level="warning", server_header=False)
