"""Server-sent events: an async generator of structs as a stream that notices when either side is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

SEND_S = 20.0
"""A page that takes no bytes for this long is given up; it comes back by itself."""


class EventStream(Response):
    """The answer to `GET /api/live`: one event per struct, and a comment now and then to keep proxies awake."""

    def __init__(self, events: AsyncGenerator[msgspec.Struct, None], heartbeat_s: float) -> None:
        self.events = events
        self.heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self.events):
            first = await anext(self.events)  # raises, before anything was sent, if there is no place left
            headers = [(b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            if scope["method"] == "HEAD":
                await send({"type": "http.response.body", "body": b""})
                return
            gone = asyncio.ensure_future(_disconnected(receive))
            try:
                with suppress(asyncio.TimeoutError, OSError):
                    await _send(send, b"retry: 2000\n" + _event(first))
                    await self._pump(send, gone)
                    await _send(send, b"", more=False)
            finally:
                gone.cancel()

    async def _pump(self, send: Send, gone: asyncio.Future[None]) -> None:
        following = asyncio.ensure_future(anext(self.events))
        try:
            while True:
                waiting: set[asyncio.Future[Any]] = {following, gone}
                await asyncio.wait(waiting, timeout=self.heartbeat_s, return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    return
                if not following.done():
                    await _send(send, b": here\n\n")
                    continue
                try:
                    event = following.result()
                except StopAsyncIteration:
                    return
                await _send(send, _event(event))
                following = asyncio.ensure_future(anext(self.events))
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await following


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(send: Send, body: bytes, more: bool = True) -> None:
    message: Message = {"type": "http.response.body", "body": body, "more_body": more}
    await asyncio.wait_for(send(message), SEND_S)


def _event(body: msgspec.Struct) -> bytes:
    return b"data: " + msgspec.json.encode(body) + b"\n\n"
