"""The gate in front of shared reports: no token of the server is asked for there, and none is given.

A link is 256 random bits, so nobody guesses one. Who tries many wrong ones is not answered for a while all the same.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stepscope.server.answers import refusal
from stepscope.server.plain_pages import plain_page

_GONE = "<p>It was revoked, has expired, or was not copied whole. Ask whoever sent it for a new one.</p>"
_PATH = re.compile(r"/shared/[A-Za-z0-9_-]{43}")
MOST_WRONG = 20
"""Wrong links from one address in a minute."""
WINDOW_S = 60.0
MOST_CLIENTS = 10_000


def is_shared(scope: Scope) -> bool:
    """Whether a request asks for a shared report, and for nothing else."""
    return scope["method"] in ("GET", "HEAD") and _PATH.fullmatch(str(scope["path"])) is not None


class SharedGate:
    """Lets requests for shared reports through, and counts those that were wrong."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._wrong: OrderedDict[str, list[float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope["client"][0] if scope.get("client") else ""
        if len(self._recent(client)) >= MOST_WRONG:
            answer = refusal(429, "Too many wrong links from this address.", "Wait a minute, then try again.")
            answer.headers["retry-after"] = str(int(WINDOW_S))
            await answer(scope, receive, send)
            return

        gone = False

        async def watched(message: Message) -> None:
            nonlocal gone
            if message["type"] == "http.response.start" and message["status"] == 404:
                gone = True
                self._note(client)
            if not gone:
                await send(message)

        inside = {**scope, "headers": [one for one in scope["headers"] if one[0] not in (b"cookie", b"authorization")]}
        await self.app(inside, receive, watched)
        if gone:
            await plain_page("This link leads nowhere", _GONE, 404)(scope, receive, send)

    def _recent(self, client: str) -> list[float]:
        since = time.monotonic() - WINDOW_S
        recent = [at for at in self._wrong.get(client, []) if at > since]
        if recent:
            self._wrong[client] = recent
        else:
            self._wrong.pop(client, None)
        return recent

    def _note(self, client: str) -> None:
        self._wrong.setdefault(client, []).append(time.monotonic())
        self._wrong.move_to_end(client)
        while len(self._wrong) > MOST_CLIENTS:
            self._wrong.popitem(last=False)
