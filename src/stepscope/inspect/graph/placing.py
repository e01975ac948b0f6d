"""The second half of a layered drawing: the position of each item in its rank, so that edges run straight."""

from __future__ import annotations

from stepscope.inspect.graph.columns import straighten
from stepscope.inspect.graph.layering import Spot, distance, weight_of

_ROUNDS = 10


def place(ranks: list[list[Spot]]) -> None:
    """Set `x` of every spot, without overlap and as near as possible to the mean of its neighbors."""
    for rank in ranks:
        left = 0.0
        for spot, after in zip(rank, [*rank[1:], None], strict=True):
            spot.x = left
            left += distance(spot, after) if after is not None else 0.0
        middle = left / 2
        for spot in rank:
            spot.x -= middle
    rounds = _ROUNDS if sum(map(len, ranks)) < 4_000 else 4
    for turn in range(rounds):
        both = turn >= rounds - 3  # finally use both directions, or the last sweep would bend everything
        for rank in ranks:
            _settle(rank, up=True, down=both)
        for rank in reversed(ranks):
            _settle(rank, up=both, down=True)
    straighten(ranks)


def _wish(spot: Spot, up: bool, down: bool) -> tuple[float, float]:
    """The preferred position of a spot, and its weight."""
    total = weight = 0.0
    if up:
        for link in spot.above:
            w = weight_of(link)
            total += w * (link.upper.x + link.from_x - link.to_x)
            weight += w
    if down:
        for link in spot.below:
            w = weight_of(link)
            total += w * (link.lower.x + link.to_x - link.from_x)
            weight += w
    return (total / weight, weight) if weight else (spot.x, 0.01)


def _settle(rank: list[Spot], up: bool, down: bool) -> None:
    """The positions nearest to all preferences that keep the order and the distances: pool adjacent violators."""
    shift = 0.0
    shifts: list[float] = []
    blocks: list[tuple[float, float, int]] = []
    for number, spot in enumerate(rank):
        if number:
            shift += distance(rank[number - 1], spot)
        shifts.append(shift)
        wish, weight = _wish(spot, up, down)
        mean, size = wish - shift, 1
        while blocks and blocks[-1][0] > mean:
            other, other_weight, other_size = blocks.pop()
            mean = (mean * weight + other * other_weight) / (weight + other_weight)
            weight += other_weight
            size += other_size
        blocks.append((mean, weight, size))
    at = 0
    for mean, _, size in blocks:
        for spot, moved in zip(rank[at : at + size], shifts[at : at + size], strict=True):
            spot.x = mean + moved
        at += size
