"""While a team server's database is away, answers say so: the page still works, and nobody is signed out."""

from __future__ import annotations

import logging
import time

from sqlalchemy.exc import InterfaceError, OperationalError
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stepscope.server.answers import refusal
from stepscope.server.plain_pages import plain_page

log = logging.getLogger("stepscope.server")

AGAIN_S = 10.0
"""How often the log says so: every open page asks every few seconds."""
WORDS = "The server's database cannot be used right now."
HINT = (
    "Nothing is lost: runs stay where they were recorded. Try again in a minute; `stepscope server doctor` on the "
    "server says what is wrong."
)


class DatabaseAway:
    """ASGI middleware inside the safe headers, around everything that asks the database."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._told = float("-inf")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def said(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, said)
        except (OperationalError, InterfaceError) as fault:
            self._tell(fault)
            if scope["type"] == "http" and not begun:
                await _answer(scope)(scope, receive, send)

    def _tell(self, fault: OperationalError | InterfaceError) -> None:
        if time.monotonic() - self._told > AGAIN_S:
            self._told = time.monotonic()
            log.error("the database cannot be used: %s", str(fault.orig).strip().partition("\n")[0])


def _answer(scope: Scope) -> Response:
    if not scope["path"].startswith("/api") and "text/html" in Headers(scope=scope).get("accept", ""):
        return plain_page("One moment", f"<p>{WORDS}</p><p>{HINT}</p>", 503)
    return refusal(503, WORDS, HINT)
