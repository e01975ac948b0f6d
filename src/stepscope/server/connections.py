"""Who is connected: strangers wait in a few places, those who have shown the token keep theirs.

A connection is a stranger until a request on it was admitted. When there are too many strangers, the one that has
waited longest without a whole request loses its place, first among those of the same address. So a flood evicts itself:
a client that sends its request at once is read before the flood can evict it, and strangers never evict a client that
has shown the token.
"""

from __future__ import annotations

import ipaddress
from typing import Protocol

MOST_STRANGERS = 512
MOST_PER_ADDRESS = 192
MOST_KNOWN = 512
ACCEPTED_AT_ONCE = 32
"""Connections taken from the kernel per turn of the event loop. A request is read about three turns after its
connection was accepted: three times this many newer ones must fit into the places of one address."""


class Connection(Protocol):
    """What can be asked to go."""

    def evict(self) -> None: ...


class Connections:
    """Connections that wait for a request, oldest first."""

    def __init__(
        self, most: int = MOST_STRANGERS, per_address: int = MOST_PER_ADDRESS, most_known: int = MOST_KNOWN
    ) -> None:
        self._most = most
        self._per_address = per_address
        self._most_known = most_known
        self._strangers: dict[str, dict[Connection, None]] = {}
        self._count = 0
        self._known: dict[Connection, None] = {}

    def __len__(self) -> int:
        return self._count + len(self._known)

    def wait(self, connection: Connection, address: str, known: bool) -> None:
        """The connection waits for a request; somebody who has waited longer may have to go."""
        if known:
            self._known.setdefault(connection)
            if len(self._known) > self._most_known:
                self._evict(self._known)
            return
        row = self._strangers.setdefault(address, {})
        if connection in row:
            return
        row[connection] = None
        self._count += 1
        if len(row) > self._per_address:
            self._evict_stranger(address)
        elif self._count > self._most:
            self._evict_stranger(max(self._strangers, key=lambda each: len(self._strangers[each])))

    def leave(self, connection: Connection, address: str) -> None:
        """The connection waits no longer: its request is here, or it is gone."""
        self._known.pop(connection, None)
        row = self._strangers.get(address, {})
        if connection in row:
            del row[connection]
            self._count -= 1
            if not row:
                del self._strangers[address]

    def _evict_stranger(self, address: str) -> None:
        self._count -= 1
        self._evict(self._strangers[address])

    @staticmethod
    def _evict(row: dict[Connection, None]) -> None:
        oldest = next(iter(row))
        # Leaves the row at once: it is evicted only on the next turn of the loop, and many may arrive before that.
        del row[oldest]
        oldest.evict()


def network_of(address: str | None) -> str:
    """What counts as one address: an IPv4 address, or the /64 that one IPv6 subscriber has.

    >>> network_of("192.0.2.7"), network_of("2001:db8:1:2:3:4:5:6")
    ('192.0.2.7', '2001:db8:1:2::')
    """
    if address is None or ":" not in address:
        return address or ""
    try:
        number = int(ipaddress.IPv6Address(address.partition("%")[0]))
    except ValueError:
        return address
    return str(ipaddress.IPv6Address(number >> 64 << 64))
