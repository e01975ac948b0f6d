"""Places for connections: strangers push out strangers, the oldest of the fullest address first."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from stepscope.server.connections import ACCEPTED_AT_ONCE, MOST_PER_ADDRESS, Connections, network_of
from stepscope.server.crowd import Crowd


class Seat:
    def __init__(self, name: str) -> None:
        self.name = name

    def evict(self) -> None:
        gone.append(self.name)


gone: list[str] = []


@pytest.fixture(autouse=True)
def nobody_is_gone() -> None:
    gone.clear()


def test_many_arrivals_in_one_turn_push_out_different_ones() -> None:
    """Faults 6: the same one was aborted again and again, because it heard of it only on the loop's next turn."""
    places = Connections(most=3, per_address=3)
    for number in range(6):
        places.wait(Seat(str(number)), "a", known=False)
    assert gone == ["0", "1", "2"]
    assert len(places) == 3


def test_the_address_with_the_most_strangers_gives_way() -> None:
    places = Connections(most=4, per_address=10)
    for name, address in (("lone", "b"), ("1", "a"), ("2", "a"), ("3", "a"), ("new", "c")):
        places.wait(Seat(name), address, known=False)
    assert gone == ["1"]


def test_one_address_has_only_its_own_places() -> None:
    places = Connections(most=100, per_address=2)
    for name, address in (("1", "a"), ("x", "b"), ("2", "a"), ("3", "a")):
        places.wait(Seat(name), address, known=False)
    assert gone == ["1"]


def test_strangers_never_push_out_the_known() -> None:
    places = Connections(most=2, per_address=2, most_known=1)
    known = Seat("known")
    places.wait(known, "a", known=True)
    for number in range(50):
        places.wait(Seat(str(number)), "a", known=False)
    assert "known" not in gone
    places.wait(Seat("known too"), "b", known=True)
    assert gone[-1] == "known"


def test_who_has_sent_a_request_waits_no_longer() -> None:
    places = Connections(most=1, per_address=1)
    first = Seat("first")
    places.wait(first, "a", known=False)
    places.wait(first, "a", known=False)  # more drops of the same request
    places.leave(first, "a")
    places.leave(first, "a")
    places.wait(Seat("second"), "a", known=False)
    assert (gone, len(places)) == ([], 1)


def test_a_request_that_comes_at_once_is_read_before_its_connection_can_be_pushed_out() -> None:
    assert MOST_PER_ADDRESS > 4 * ACCEPTED_AT_ONCE


def test_ipv6_subscribers_count_as_one() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:2") != network_of("2001:db8:0:1::1")
    assert network_of("fe80::1%eth0") == "fe80::"
    assert network_of(None) == ""


def call(crowd: Crowd, path: str) -> Any:
    sent: list[dict[str, Any]] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": path, "method": "GET", "headers": []}
    return asyncio.ensure_future(crowd(scope, receive, send)), sent


def test_more_requests_than_can_be_answered_are_told_at_once() -> None:
    async def main() -> None:
        release = asyncio.Event()

        async def slow(scope: Scope, receive: Receive, send: Send) -> None:
            await release.wait()

        crowd = Crowd(slow, most=2)
        first, _ = call(crowd, "/api/runs")
        second, _ = call(crowd, "/api/runs")
        await asyncio.sleep(0)
        third, sent = call(crowd, "/api/runs")
        await third
        assert sent[0]["status"] == 503
        assert (b"retry-after", b"1") in sent[0]["headers"]
        stream, _ = call(crowd, "/api/live")
        await asyncio.sleep(0)
        release.set()
        await asyncio.gather(first, second, stream)
        again, sent = call(crowd, "/api/runs")
        await again
        assert sent == []

    asyncio.run(main())
