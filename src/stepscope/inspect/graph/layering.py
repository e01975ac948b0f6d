"""The first half of a layered drawing: ranks from top to bottom, and an order in each with few edge crossings."""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass, field
from itertools import pairwise

GAP = 26.0
BEND_GAP = 14.0
_SWEEPS = 12
_MOST_BENDS = 20_000
_FREE_SPAN = 60


@dataclass(eq=False, repr=False)
class Spot:
    """A position in a rank: an item, a port on the border, or a bend of a long edge (which has no item)."""

    width: float = 0.0
    height: float = 0.0
    side: int = 0
    """-1: a port at the top, 1: one at the bottom, 0: inside."""
    rank: int = 0
    x: float = 0.0
    """The middle."""
    above: list[Link] = field(default_factory=list)
    below: list[Link] = field(default_factory=list)
    bend: bool = False

    @property
    def loose(self) -> bool:
        """Nothing leads to it (a parameter, a constant): it is placed beside the main path."""
        return not self.above and not self.side and not self.bend


@dataclass(eq=False, repr=False)
class Link:
    """An edge between two spots, or one segment of it between adjacent ranks. Offsets are from the centers."""

    upper: Spot
    lower: Spot
    from_x: float = 0.0
    to_x: float = 0.0
    bends: list[Spot] = field(default_factory=list)


def distance(left: Spot, right: Spot) -> float:
    """The minimum distance between the centers of two neighbors in a rank."""
    gap = BEND_GAP if left.bend or right.bend or left.side or right.side else GAP
    return (left.width + right.width) / 2 + gap


def weight_of(link: Link) -> float:
    """Long edges are straightened first: a bend in one is more visible than one beside a node."""
    if link.upper.loose:
        return 0.3
    return (1.0, 2.0, 8.0)[link.upper.bend + link.lower.bend]


@dataclass(eq=False, repr=False)
class Layers:
    ranks: list[list[Spot]]
    links: list[Link]


def layer(spots: list[Spot], links: list[Link]) -> Layers:
    """Ranks for spots given in an order in which every link points forward."""
    _rank(spots, links)
    used = sorted({spot.rank for spot in spots})
    renumbered = {rank: place for place, rank in enumerate(used)}
    for spot in spots:
        spot.rank = renumbered[spot.rank]
    ranks: list[list[Spot]] = [[] for _ in used]
    for spot in spots:
        ranks[spot.rank].append(spot)
    _bend(links, ranks)
    _reduce_crossings(ranks)
    return Layers(ranks, links)


def _rank(spots: list[Spot], links: list[Link]) -> None:
    """Each as high as its inputs allow; then items with more readers than inputs move down to their readers."""
    into: dict[Spot, list[Spot]] = {spot: [] for spot in spots}
    out: dict[Spot, list[Spot]] = {spot: [] for spot in spots}
    for link in links:
        into[link.lower].append(link.upper)
        out[link.upper].append(link.lower)
    for spot in spots:
        highest = 0 if spot.side < 0 else 1
        spot.rank = max((above.rank + 1 for above in into[spot]), default=highest)
    for spot in reversed(spots):
        if spot.side == 0 and len(out[spot]) > len(into[spot]):
            spot.rank = max(spot.rank, min(below.rank for below in out[spot]) - 1)
    last = max((spot.rank for spot in spots if spot.side <= 0), default=0)
    for spot in spots:
        if spot.side > 0:
            spot.rank = last + 1


def _bend(links: list[Link], ranks: list[list[Spot]]) -> None:
    """Give long links a bend in every rank they cross, unless that would be far too many."""
    spans = sum(link.lower.rank - link.upper.rank for link in links)
    for link in links:
        span = link.lower.rank - link.upper.rank
        if spans > _MOST_BENDS and span > _FREE_SPAN:
            continue
        upper, from_x = link.upper, link.from_x
        for rank in range(link.upper.rank + 1, link.lower.rank):
            bend = Spot(width=4.0, rank=rank, bend=True)
            ranks[rank].append(bend)
            link.bends.append(bend)
            _join(upper, bend, from_x, 0.0)
            upper, from_x = bend, 0.0
        _join(upper, link.lower, from_x, link.to_x)


def _join(upper: Spot, lower: Spot, from_x: float, to_x: float) -> None:
    piece = Link(upper, lower, from_x, to_x)
    upper.below.append(piece)
    lower.above.append(piece)


def _reduce_crossings(ranks: list[list[Spot]]) -> None:
    """Sweep down and up, sorting each rank by the mean position of its neighbors; keeps the best order."""
    size = sum(map(len, ranks))
    best, least = [list(rank) for rank in ranks], _crossings(ranks)
    idle = 0
    for sweep in range(_SWEEPS if size < 4_000 else 4):
        if least == 0 or idle == 4:
            break
        down = sweep % 2 == 0
        for rank in ranks[1:] if down else ranks[-2::-1]:
            _sort_by_neighbours(rank, ranks, down)
        if size < 1_500:
            _swap_neighbours(ranks)
        crossed = _crossings(ranks)
        idle += 1
        if crossed < least:
            best, least, idle = [list(rank) for rank in ranks], crossed, 0
    for rank, order in zip(ranks, best, strict=True):
        rank[:] = order


def _places(rank: list[Spot]) -> dict[Spot, int]:
    return {spot: place for place, spot in enumerate(rank)}


def _ends(spot: Spot, places: dict[Spot, int], above: bool) -> list[float]:
    """The position of a spot's neighbors; ports of the same box differ by a fraction."""
    links = spot.above if above else spot.below
    if above:
        return sorted(places[link.upper] + _fraction(link.from_x, link.upper) for link in links)
    return sorted(places[link.lower] + _fraction(link.to_x, link.lower) for link in links)


def _fraction(offset: float, spot: Spot) -> float:
    return 0.9 * offset / spot.width if spot.width > 8 else 0.0


def _sort_by_neighbours(rank: list[Spot], ranks: list[list[Spot]], down: bool) -> None:
    fixed = ranks[rank[0].rank + (-1 if down else 1)]
    places = _places(fixed)
    mean: dict[Spot, float] = {}
    before = -1.0
    for spot in rank:
        ends = _ends(spot, places, down)
        before = mean[spot] = sum(ends) / len(ends) if ends else before
    rank.sort(key=lambda spot: mean[spot])


def _swap_neighbours(ranks: list[list[Spot]]) -> None:
    for number, rank in enumerate(ranks):
        above = _places(ranks[number - 1]) if number else {}
        below = _places(ranks[number + 1]) if number + 1 < len(ranks) else {}
        for at in range(len(rank) - 1):
            one, two = rank[at], rank[at + 1]
            ends = [
                (_ends(one, above, True), _ends(two, above, True)),
                (_ends(one, below, False), _ends(two, below, False)),
            ]
            now = sum(_crossed(a, b) for a, b in ends)
            if now and sum(_crossed(b, a) for a, b in ends) < now:
                rank[at], rank[at + 1] = two, one


def _crossed(left: list[float], right: list[float]) -> int:
    return sum(a > b for a in left for b in right)


def _crossings(ranks: list[list[Spot]]) -> int:
    total = 0
    for upper, lower in pairwise(ranks):
        places = _places(lower)
        seen: list[float] = []
        for spot in upper:
            ends = _ends(spot, places, False)
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total
