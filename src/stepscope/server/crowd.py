"""A bounded queue in front of the views: more requests at once than can be answered soon get that answer at once."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from stepscope.server.answers import refusal

MOST_AT_ONCE = 256


class Crowd:
    """ASGI middleware behind the guard, so that only requests with the token are counted. Streams do not queue."""

    def __init__(self, app: ASGIApp, most: int = MOST_AT_ONCE) -> None:
        self.app = app
        self.most = most
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == "/api/live":
            await self.app(scope, receive, send)
            return
        if self._inside >= self.most:
            answer = refusal(503, f"{self.most} requests are being answered already.", "Try again in a moment.")
            answer.headers["retry-after"] = "1"
            await answer(scope, receive, send)
            return
        self._inside += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._inside -= 1
