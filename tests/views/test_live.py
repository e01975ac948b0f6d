"""Open pages are told what changed; a page that does not listen costs a bounded amount of memory (RELIABILITY 56)."""

from __future__ import annotations

import asyncio
import threading

import pytest

from stepscope.views.live import MAX_NOTICES, Hub, Live, RunChange, TooMany
from stepscope.views.notice import Notice


def news(version: int, run: str = "a", gone: list[str] | None = None) -> Live:
    changed = [RunChange(id=run, version=version, status="running")] if run else []
    return Live(version=version, changed=changed, gone=gone or [])


def test_first_comes_where_things_stand_then_each_change_from_any_thread() -> None:
    async def page() -> list[Live]:
        hub = Hub()
        hub.publish(news(7))
        stream = hub.listen()
        seen = [await anext(stream)]
        threading.Thread(target=hub.publish, args=[news(8)]).start()
        seen.append(await anext(stream))
        await stream.aclose()
        assert len(hub) == 0
        return seen

    assert asyncio.run(page()) == [Live(version=7, changed=[], gone=[]), news(8)]


def test_what_a_slow_page_missed_comes_as_one_message() -> None:
    async def page() -> Live:
        hub = Hub()
        stream = hub.listen()
        await anext(stream)
        for version in range(1, 10_001):
            hub.publish(news(version, run="ab"[version % 2]))
        hub.publish(news(10_001, run="", gone=["a"]))
        late = await anext(stream)
        await stream.aclose()
        return late

    late = asyncio.run(page())
    assert late == Live(version=10_001, changed=[RunChange(id="b", version=9_999, status="running")], gone=["a"])


def test_a_run_that_went_and_came_back_is_there() -> None:
    async def page() -> Live:
        hub = Hub()
        stream = hub.listen()
        await anext(stream)
        hub.publish(news(1, run="", gone=["a"]))
        hub.publish(news(2, run="a"))
        seen = await anext(stream)
        await stream.aclose()
        return seen

    assert asyncio.run(page()) == news(2)


def test_notices_for_a_page_that_sleeps_are_limited() -> None:
    async def page() -> Live:
        hub = Hub()
        stream = hub.listen()
        await anext(stream)
        for version in range(200):
            notice = Notice(run="a", title=f"{version}", text="", level="info")
            hub.publish(Live(version=version, changed=[], gone=[], notices=[notice]))
        seen = await anext(stream)
        await stream.aclose()
        return seen

    seen = asyncio.run(page())
    assert len(seen.notices) == MAX_NOTICES
    assert seen.notices[-1].title == "199"


def test_no_more_pages_than_there_are_places() -> None:
    async def pages() -> None:
        hub = Hub(limit=2)
        streams = [hub.listen() for _ in range(3)]
        await anext(streams[0])
        await anext(streams[1])
        with pytest.raises(TooMany, match="2 pages are already open"):
            await anext(streams[2])
        await streams[0].aclose()
        again = hub.listen()
        await anext(again)
        await again.aclose()
        await streams[1].aclose()

    asyncio.run(pages())


def test_closing_ends_every_stream() -> None:
    async def pages() -> None:
        hub = Hub()
        stream = hub.listen()
        await anext(stream)
        threading.Timer(0.05, hub.close).start()
        with pytest.raises(StopAsyncIteration):
            await asyncio.wait_for(anext(stream), 5)
        assert len(hub) == 0

    asyncio.run(pages())
