"""Lay out a drawing: one open box at a time, innermost first, each in layers from top to bottom.

An edge enters or leaves an open box through a port on its border, so that a box can be laid out
independently.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from stepscope.inspect.graph.labels import DETAIL, Labels, text_width
from stepscope.inspect.graph.layering import Link, Spot, layer
from stepscope.inspect.graph.placing import place
from stepscope.inspect.graph.shown import Drawing, Flow, Item

HEADER = 34.0
PADDING = 18.0
RANK_GAP = 30.0
WIDE_GAP = 18.0
_STEEP = 4.0
"""The maximum slope of an edge between two ranks: this many times as far sideways as down."""
_TALLER = 8.0
"""Beside something taller by more than this, an edge runs straight. Less would put a corner inside its arrow head."""

Point = tuple[float, float]


@dataclass(eq=False, repr=False)
class Frame:
    """The position of an item."""

    item: Item
    x: float
    y: float
    width: float
    height: float


@dataclass(eq=False, repr=False)
class Wire:
    """One segment of one or more flows, inside one box, from point to point."""

    points: list[Point]
    flows: list[Flow]
    arrow: bool
    """Whether it ends at its reader, and not at a port."""
    starts: bool
    """Whether it begins at its producer, and not at a port."""


@dataclass(eq=False, repr=False)
class Layout:
    width: float
    height: float
    frames: list[Frame]
    """Outer ones first."""
    wires: list[Wire]


@dataclass(eq=False, repr=False)
class _Inside:
    """The content of an open box, relative to its own upper left corner."""

    width: float = 0.0
    height: float = 0.0
    frames: list[Frame] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    inner: list[tuple[_Inside, float, float]] = field(default_factory=list)
    ports: dict[tuple[Item, bool], float] = field(default_factory=dict)
    """(producer, whether it leaves) -> x of the port."""


def lay_out(drawing: Drawing) -> Layout:
    """Coordinates for everything in the drawing; deterministic."""
    pieces = _pieces(drawing)
    labels = Labels(drawing.data)
    done: dict[Item, _Inside] = {}
    for item in (*reversed(drawing.items), drawing.root):
        if item.open:
            done[item] = _lay_out_box(item, pieces.get(item, {}), done, labels)
    result = Layout(done[drawing.root].width, done[drawing.root].height, [], [])
    waiting = [(done[drawing.root], 0.0, 0.0)]
    while waiting:
        inside, left, top = waiting.pop()
        for frame in inside.frames:
            result.frames.append(Frame(frame.item, frame.x + left, frame.y + top, frame.width, frame.height))
        for wire in inside.wires:
            wire.points = [(x + left, y + top) for x, y in wire.points]
            result.wires.append(wire)
        waiting.extend((inner, x + left, y + top) for inner, x, y in inside.inner)
    return result


_End = tuple["Item | None", "Item"]
"""An item directly in the box (None: the box's own border), and the item that produced the flow."""
_Pieces = dict[tuple[_End, _End], list[Flow]]


def _pieces(drawing: Drawing) -> dict[Item, _Pieces]:
    """Split each flow at the borders it crosses: what to draw in each open box."""
    found: dict[Item, _Pieces] = {}

    def add(box: Item, start: _End, end: _End, flow: Flow) -> None:
        found.setdefault(box, {}).setdefault((start, end), []).append(flow)

    for flow in drawing.flows:
        upper, lower = (flow.target, flow.source) if flow.backwards else (flow.source, flow.target)
        outside = set()
        box = upper.parent
        while box is not None:
            outside.add(box)
            box = box.parent
        at, around = lower, lower.parent
        while around is not None and around not in outside:
            add(around, (None, upper), (at, upper), flow)
            at, around = around, around.parent
        start, leaving = upper, upper.parent
        while leaving is not None and leaving is not around:
            add(leaving, (start, upper), (None, upper), flow)
            start, leaving = leaving, leaving.parent
        if around is not None:
            add(around, (start, upper), (at, upper), flow)
    return found


def _lay_out_box(box: Item, pieces: _Pieces, done: dict[Item, _Inside], labels: Labels) -> _Inside:
    spots: dict[object, Spot] = {}
    for start, _ in pieces:
        if start[0] is None:
            spots.setdefault(("in", start[1]), Spot(side=-1))
    for item in box.children:
        width, height = (done[item].width, done[item].height) if item in done else _size(item, labels)
        spots[item] = Spot(width=width, height=height)
    for _, end in pieces:
        if end[0] is None:
            spots.setdefault(("out", end[1]), Spot(side=1))
    links = {}
    for start, end in pieces:
        link = Link(
            spots[start[0] or ("in", start[1])],
            spots[end[0] or ("out", end[1])],
            _port(done, start, True),
            _port(done, end, False),
        )
        links[link] = (start, end)
    layers = layer(list(spots.values()), list(links))
    place(layers.ranks)
    least = 0.0 if box.thing is None else labels.of(box.thing).title_width() + 2 * PADDING
    return _Shape(box, spots, layers.ranks, links, pieces, done).inside(least)


def _size(item: Item, labels: Labels) -> tuple[float, float]:
    """The size of a closed item: one or two lines."""
    if item.thing is None:
        return 0.0, 0.0
    label = labels.of(item.thing)
    width = max(label.title_width(), text_width(label.detail, DETAIL))
    return max(58.0, width + 26.0), 40.0 if label.detail else 28.0


def _port(done: dict[Item, _Inside], end: _End, leaves: bool) -> float:
    """The distance of a port from the center of an open box."""
    item, maker = end
    if item is None or item not in done:
        return 0.0
    return done[item].ports.get((maker, leaves), done[item].width / 2) - done[item].width / 2


def _is_border(rank: list[Spot]) -> bool:
    """Whether a rank holds ports, and otherwise only bends of long edges."""
    return any(spot.side for spot in rank) and all(spot.side or spot.bend for spot in rank)


class _Shape:
    """From spots to coordinates inside one box."""

    def __init__(
        self,
        box: Item,
        spots: dict[object, Spot],
        ranks: list[list[Spot]],
        links: dict[Link, tuple[_End, _End]],
        pieces: _Pieces,
        done: dict[Item, _Inside],
    ) -> None:
        self.box, self.spots, self.ranks, self.links, self.pieces, self.done = box, spots, ranks, links, pieces, done
        self.outermost = box.thing is None
        self.tops: list[float] = []
        self.bottoms: list[float] = []

    def inside(self, least: float) -> _Inside:
        inside = _Inside()
        everything = [spot for rank in self.ranks for spot in rank]
        left = min((spot.x - spot.width / 2 for spot in everything), default=0.0)
        right = max((spot.x + spot.width / 2 for spot in everything), default=0.0)
        inside.width = max(right - left + 2 * PADDING, least)
        shift = (inside.width - (right - left)) / 2 - left
        for spot in everything:
            spot.x += shift
        inside.height = self._stack()
        for item, spot in self.spots.items():
            if isinstance(item, Item):
                self._put(inside, item, spot)
            elif isinstance(item, tuple):
                inside.ports[item[1], item[0] == "out"] = spot.x
        inside.wires = [self._wire(link, *ends) for link, ends in self.links.items()]
        return inside

    def _stack(self) -> float:
        """Give each rank its height, with wider gaps where edges run far sideways; returns the total height."""
        y = PADDING if self.outermost else HEADER
        for number, rank in enumerate(self.ranks):
            if number == 0 and _is_border(rank) and rank[0].side < 0:
                self.tops.append(0.0)
                self.bottoms.append(y)
                y += 8.0
                continue
            is_below_header = number == 1 and self.tops[0] == 0.0 and not self.outermost
            if number and not is_below_header:
                y += self._gap(number)
            self.tops.append(y)
            y += max((spot.height for spot in rank), default=0.0)
            self.bottoms.append(y)
        if self.ranks and any(spot.side > 0 for spot in self.ranks[-1]):
            return y
        return y + PADDING

    def _gap(self, number: int) -> float:
        far = 0.0
        for spot in self.ranks[number]:
            for link in spot.above:
                far = max(far, abs(link.upper.x + link.from_x - spot.x - link.to_x))
        return RANK_GAP + min(WIDE_GAP, far / _STEEP / 4)

    def _put(self, inside: _Inside, item: Item, spot: Spot) -> None:
        middle = (self.tops[spot.rank] + self.bottoms[spot.rank]) / 2
        x, y = spot.x - spot.width / 2, middle - spot.height / 2
        inside.frames.append(Frame(item, x, y, spot.width, spot.height))
        if item in self.done:
            inside.inner.append((self.done[item], x, y))

    def _wire(self, link: Link, start: _End, end: _End) -> Wire:
        leaves, arrives = link.upper.x + link.from_x, link.lower.x + link.to_x
        points = [(leaves, self._edge_of(link.upper, True))]
        if self.bottoms[link.upper.rank] > points[0][1] + _TALLER and not link.upper.side:
            points.append((leaves, self.bottoms[link.upper.rank]))
        for bend in link.bends:
            points += [(bend.x, self.tops[bend.rank]), (bend.x, self.bottoms[bend.rank])]
        bottom = self._edge_of(link.lower, False)
        if self.tops[link.lower.rank] < bottom - _TALLER and not link.lower.side:
            points.append((arrives, self.tops[link.lower.rank]))
        points.append((arrives, bottom))
        flows = self.pieces[start, end]
        backwards = flows[0].backwards
        first, last = start[0] is not None, end[0] is not None
        into_box = end[0] is not None and end[0] in self.done
        out_of_box = start[0] is not None and start[0] in self.done
        if backwards:
            points.reverse()
            return Wire(points, flows, arrow=first and not out_of_box, starts=last and not into_box)
        return Wire(points, flows, arrow=last and not into_box, starts=first and not out_of_box)

    def _edge_of(self, spot: Spot, lower_edge: bool) -> float:
        if spot.side < 0:
            return 0.0
        if spot.side > 0:
            return self.bottoms[spot.rank]
        middle = (self.tops[spot.rank] + self.bottoms[spot.rank]) / 2
        return middle + spot.height / 2 if lower_edge else middle - spot.height / 2
