"""The facts of all ranks of a job come together at rank 0, through the store of the process group.

Observers put facts into a box; a thread sends them, and rank 0 reads those of the others, so nobody waits. Each rank
sends a bounded amount. Of very many ranks, rank 0 reads some, evenly spread.
"""

from __future__ import annotations

import hashlib
import threading
from typing import Any

import msgspec

from stepscope.common import clocks
from stepscope.launch.rank_channel import Channel, open_channel
from stepscope.record.observers.ranks import AnyFact, Outbox, facts_in
from stepscope.records.hang import RankState

END_S = 1.0
"""How long rank 0 waits at its end for what the others have to say."""
_MESSAGE = 16 << 10
_MOST_SENT = 256 << 10
"""Bytes that one rank sends in all."""
_MOST_READ = 256
"""Ranks that rank 0 compares."""
_OFTEN, _SELDOM = 30, 10
"""The first looks come every second, later ones every few seconds."""


class Exchange:
    """One rank's end of it."""

    def __init__(self, rank: int) -> None:
        self._rank = rank
        self._outbox = Outbox()
        self._own: list[AnyFact] = []
        self._sent = self._sent_bytes = self._looks = 0
        self._channel: Channel | None = None
        self._opening = threading.Lock()
        self._hearing = threading.Lock()
        self._heard: dict[int, list[Any]] = {}
        self._next: dict[int, int] = {}
        self._over: set[int] = set()

    def channel(self) -> Channel | None:
        """The channel, once there is a process group."""
        with self._opening:
            if self._channel is None:
                self._channel = open_channel()
        return self._channel

    def write(self, fact: AnyFact) -> None:
        """Have a fact sent soon."""
        if self._channel is None:
            self.channel()  # now, while the group is there: a short script may have ended it at the next look
        if self._rank == 0:
            self._own.append(fact)
        else:
            self._outbox.write(fact)

    # -- on a thread ------------------------------------------------------------------------------------------------

    def look(self) -> bool:
        """Send what there is; on rank 0, read what has come. Whether there is something new."""
        self._looks += 1
        if self._looks > _OFTEN and self._looks % _SELDOM:
            return False
        return self._pass_on()

    def _pass_on(self) -> bool:
        channel = self._channel
        if channel is None or not channel.is_open:
            return False
        if self._rank == 0:
            with self._hearing:
                return self._hear(channel)
        if (self._rank - 1) % _stride(channel.size):
            return False  # one of very many ranks, which nobody reads
        while self._sent_bytes < _MOST_SENT and (message := self._outbox.take(_MESSAGE)):
            channel.put(f"facts/{self._rank}/{self._sent}", message)
            self._sent += 1
            self._sent_bytes += len(message)
        return False

    def _hear(self, channel: Channel) -> bool:
        new = False
        for rank in range(1, channel.size, _stride(channel.size)):
            while rank not in self._over:
                message = channel.get(f"facts/{rank}/{self._next.get(rank, 0)}")
                if message is None:
                    break
                self._next[rank] = self._next.get(rank, 0) + 1
                facts = facts_in(message.split(b"\n"))
                self._heard.setdefault(rank, []).extend(facts)
                new = True
                if any(type(fact).__name__ == "Ended" for fact in facts):
                    self._over.add(rank)
        return new

    # -- at the end -------------------------------------------------------------------------------------------------

    def gather(self) -> list[list[Any]]:
        """Send the rest; on rank 0, the facts of each rank, those that come within a second."""
        until = clocks.monotonic() + END_S
        self._pass_on()
        if self._rank != 0:
            return []
        channel = self._channel
        while channel is not None and channel.is_open and clocks.monotonic() < until:
            if len(self._over) >= len(range(1, channel.size, _stride(channel.size))):
                break
            clocks.sleep(0.02)
            self._pass_on()
        return self.facts()

    def facts(self) -> list[list[Any]]:
        """What each rank has said so far, on rank 0."""
        return [list(self._own), *(list(self._heard[rank]) for rank in sorted(self._heard))]

    def claims(self, what: str) -> bool:
        """Whether this rank is the first of all to ask for this; also where there is no way to ask."""
        channel = self._channel
        if channel is None or not channel.is_open:
            return True
        return channel.add(f"claim/{hashlib.sha256(what.encode()).hexdigest()[:16]}") in (0, 1)

    def failed(self) -> list[RankState]:
        """Ranks that have ended with an exception, as far as they could say so."""
        channel = self._channel
        if channel is None:
            return []
        said = [channel.get(f"ended/{rank}") for rank in range(min(channel.size, _MOST_READ))]
        states = [msgspec.json.decode(one, type=RankState) for one in said if one is not None]
        return [one for one in states if one.error]

    def close(self) -> None:
        """The script is over; what was found last is sent."""
        self._pass_on()
        if self._channel is not None:
            self._channel.close()


def _stride(size: int) -> int:
    """Rank 0 compares itself with every n-th of the others.

    >>> _stride(2), _stride(257), _stride(4096)
    (1, 1, 16)
    """
    return max(1, -(-(size - 1) // _MOST_READ))
