"""Straighten chains: consecutive items are aligned vertically if there is room."""

from __future__ import annotations

import math

from stepscope.inspect.graph.layering import Link, Spot, distance, weight_of

_PASSES = 6

Column = list[tuple[Spot, float]]
"""Spots from top to bottom, each with its offset from the first."""


_Beside = dict[Spot, tuple["Spot | None", "Spot | None"]]


def straighten(ranks: list[list[Spot]]) -> None:
    """Move whole columns toward their neighbors, as far as adjacent items allow."""
    beside = _neighbours(ranks)
    columns = _columns(ranks)
    for turn in range(_PASSES):
        for column in columns if turn % 2 == 0 else reversed(columns):
            for run, low, high in _runs(column, beside):
                x = min(max(_wish(run), low), high)
                for spot, offset in run:
                    spot.x = x + offset


def _runs(column: Column, beside: _Beside) -> list[tuple[Column, float, float]]:
    """Split the column into as few pieces as fit, each with its possible range."""
    runs: list[tuple[Column, float, float]] = []
    for spot, offset in column:
        left, right = beside[spot]
        low = -math.inf if left is None else left.x + distance(left, spot) - offset
        high = math.inf if right is None else right.x - distance(spot, right) - offset
        if runs and max(low, runs[-1][1]) <= min(high, runs[-1][2]):
            run, lowest, highest = runs[-1]
            run.append((spot, offset))
            runs[-1] = (run, max(low, lowest), min(high, highest))
        elif low <= high + 1e-6:
            runs.append(([(spot, offset)], low, high))
    return runs


def _neighbours(ranks: list[list[Spot]]) -> _Beside:
    found: _Beside = {}
    for rank in ranks:
        for at, spot in enumerate(rank):
            found[spot] = (rank[at - 1] if at else None, rank[at + 1] if at + 1 < len(rank) else None)
    return found


def _columns(ranks: list[list[Spot]]) -> list[Column]:
    columns: dict[Spot, Column] = {}
    for rank in ranks:
        for spot in rank:
            link = _choice(spot.above, upwards=True)
            if link is not None and _choice(link.upper.below, upwards=False) is link:
                column = columns[link.upper]
                column.append((spot, column[-1][1] + link.from_x - link.to_x))
            else:
                column = [(spot, 0.0)]
            columns[spot] = column
    return list({id(column): column for column in columns.values()}.values())


def _choice(links: list[Link], upwards: bool) -> Link | None:
    """The link that should be straight: to an item before a bend of a long edge, and the middle one of several."""
    if not links:
        return None
    firm = [link for link in links if not link.upper.loose] or links
    solid = [link for link in firm if not (link.upper if upwards else link.lower).bend] or firm
    ordered = sorted(solid, key=lambda link: link.upper.x + link.from_x if upwards else link.lower.x + link.to_x)
    return ordered[(len(ordered) - 1) // 2]


def _wish(column: Column) -> float:
    """The mean position at which the links to other columns would be straight; unchanged if there are none."""
    members = {spot for spot, _ in column}
    total = weight = 0.0
    for spot, offset in column:
        for link in spot.above:
            if link.upper not in members:
                w = weight_of(link)
                total += w * (link.upper.x + link.from_x - link.to_x - offset)
                weight += w
        for link in spot.below:
            if link.lower not in members:
                w = weight_of(link)
                total += w * (link.lower.x + link.to_x - link.from_x - offset)
                weight += w
    if weight:
        return total / weight
    return sum(spot.x - offset for spot, offset in column) / len(column)
