"""A stuck job: what each rank was doing at that moment."""

from __future__ import annotations

import msgspec

__all__ = ["Call", "Flight", "Hang", "RankState"]


class Call(msgspec.Struct, frozen=True, array_like=True):
    """One collective that a rank has called."""

    number: int
    name: str
    shape: tuple[int, ...]
    file: str
    line: int
    chain: int
    """A digest of this call and all before it: equal on two ranks that made the same calls."""


class Flight(msgspec.Struct, frozen=True, array_like=True):
    """A collective that torch's flight recorder has seen go out and not come back."""

    number: int
    """Among those of its group, counted from 1."""
    name: str
    """nccl:all_reduce, gloo:broadcast ..."""
    shape: tuple[int, ...]
    group: str
    state: str
    """scheduled: it waits for its turn on the device; started."""
    members: tuple[int, ...] = ()
    """The ranks of the group; empty where this is not known."""


class RankState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one rank is doing at a moment."""

    rank: int
    host: str = ""
    pid: int = 0
    time: float = 0.0
    kind: str = "python"
    """collective, data, backward, optimizer, python, ended, aborted, silent."""
    doing: str = ""
    """all_reduce, DataLoader next, a function of the script ..."""
    number: int | None = None
    """The collective's arguments."""
    shape: tuple[int, ...] = ()
    file: str = ""
    line: int = 0
    step: int = 0
    batches: int = 0
    idle_s: float = 0.0
    """How long it has made no progress."""
    is_busy: bool = False
    """It is computing: its stack changes, or it uses the processor."""
    stack: tuple[tuple[str, int, str], ...] = ()
    """File, line and function, the innermost last."""
    calls: tuple[Call, ...] = ()
    """The last collectives that the script called."""
    sent: tuple[Call, ...] = ()
    """The last collectives of all ranks that torch's flight recorder has seen, those inside torch among them."""
    flights: tuple[Flight, ...] = ()
    """What torch's flight recorder has in flight, the oldest first."""
    enqueued: dict[str, int] = {}
    """By group: how many collectives have gone out, as the flight recorder counts."""
    error: str = ""


class Hang(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A moment at which no rank made progress."""

    time: float
    ranks: tuple[RankState, ...]
    idle_s: float = 0.0
    usual_s: float = 0.0
    """The usual duration of a step."""
    resumed: float | None = None
    """When progress was seen again."""
    is_sure: bool = True
    """Whether it counts as a hang; until then some ranks wait for others that may still come."""
