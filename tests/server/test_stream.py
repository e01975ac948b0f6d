"""A stream ends when its page is gone or takes no more, and leaves nothing behind."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stepscope.server import stream
from stepscope.server.stream import EventStream
from stepscope.views.live import Hub, Live

SCOPE = {"type": "http", "method": "GET"}


async def never() -> Any:
    await asyncio.Event().wait()


def test_a_page_that_takes_no_bytes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "SEND_S", 0.05)
    hub = Hub()

    async def stuck(message: Any) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    async def talk() -> None:
        await asyncio.wait_for(EventStream(hub.listen(), 10)(SCOPE, never, stuck), 5)

    asyncio.run(talk())
    assert len(hub) == 0


def test_a_page_that_is_gone_is_noticed_without_news() -> None:
    hub = Hub()
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def leave() -> Any:
        await asyncio.sleep(0.05)
        return {"type": "http.disconnect"}

    asyncio.run(asyncio.wait_for(EventStream(hub.listen(), 10)(SCOPE, leave, send), 5))
    assert len(hub) == 0
    assert sent[1]["body"] == b'retry: 2000\ndata: {"version":0,"changed":[],"gone":[],"notices":[],"comments":[]}\n\n'


def test_a_server_that_stops_says_goodbye() -> None:
    hub = Hub()
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)
        if len(sent) == 2:
            hub.publish(Live(version=3, changed=[], gone=["a"]))
        if len(sent) == 3:
            hub.close()

    asyncio.run(asyncio.wait_for(EventStream(hub.listen(), 10)(SCOPE, never, send), 5))
    assert b'"version":3' in sent[2]["body"]
    assert sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


def test_asking_for_the_headers_only_takes_no_place() -> None:
    hub = Hub()
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(EventStream(hub.listen(), 10)({**SCOPE, "method": "HEAD"}, never, send))
    assert (len(hub), len(sent)) == (0, 2)
