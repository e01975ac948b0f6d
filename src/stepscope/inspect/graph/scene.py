"""A laid-out drawing as a list of shapes with color names, shared by SVG and PNG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stepscope.inspect.graph.colouring import Colour, Colouring, colouring
from stepscope.inspect.graph.data import GraphBox, GraphData
from stepscope.inspect.graph.labels import DETAIL, TITLE, Labels, text_width
from stepscope.inspect.graph.layout import Frame, Layout, Point, Wire, lay_out
from stepscope.inspect.graph.shown import Drawing, Item

_HEAD = 6.0
_LEGEND = 34.0


@dataclass(frozen=True)
class Rect:
    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str
    line: str
    tip: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Text:
    x: float
    y: float
    """The baseline."""
    text: str
    size: float
    colour: str
    bold: bool = False
    anchor: Literal["start", "middle", "end"] = "start"
    halo: str = ""
    """On top of lines: kept readable by an outline in this color."""


@dataclass(frozen=True)
class Curve:
    """A line that leaves and arrives vertically: alternating straight and cubic segments."""

    start: Point
    pieces: list[tuple[Point, ...]]
    """(end,) for a straight segment, (control, control, end) for a curved one."""
    arrow: bool
    tip: str = ""


Shape = Rect | Text | Curve


@dataclass(frozen=True)
class Scene:
    width: float
    height: float
    shapes: list[Shape]


def scene_of(drawing: Drawing, by: Colour = "kind") -> Scene:
    """Everything to draw, in drawing order."""
    layout = lay_out(drawing)
    return _Painter(drawing.data, layout, colouring(drawing, by)).scene()


class _Painter:
    def __init__(self, data: GraphData, layout: Layout, colours: Colouring) -> None:
        self.labels = Labels(data)
        self.layout = layout
        self.colours = colours
        self.shapes: list[Shape] = []

    def scene(self) -> Scene:
        closed = [frame for frame in self.layout.frames if not frame.item.open]
        for frame in self.layout.frames:
            if frame.item.open:
                self._open_box(frame)
        for wire in self.layout.wires:
            self.shapes.append(self._curve(wire))
        for frame in self.layout.frames:
            if frame.item.open:
                self._header(frame)
        for frame in closed:
            self._item(frame)
        for wire in self.layout.wires:
            self._wire_label(wire)
        height = self.layout.height
        width = self.layout.width
        if self.colours.legend:
            width = max(width, self._legend(height))
            height += _LEGEND
        return Scene(width, height, self.shapes)

    def _open_box(self, frame: Frame) -> None:
        box = frame.item.thing
        if not isinstance(box, GraphBox):
            return
        if box.repeat > 1:  # a second sheet behind the first, to indicate several
            self._rect(frame, 10.0, "box", "box-line", shift=4.0)
        self._rect(frame, 10.0, _ground_of(frame.item), "box-line", self.labels.tip(box))

    def _header(self, frame: Frame) -> None:
        box = frame.item.thing
        if not isinstance(box, GraphBox):
            return
        label, halo = self.labels.of(box), _ground_of(frame.item)
        y = frame.y + 21
        self._title(frame.x + 14, y, box, halo)
        if box.parameters and frame.width > label.title_width() + 130:
            words = label.detail.rpartition(" · ")[2]
            self.shapes.append(Text(frame.x + frame.width - 14, y, words, DETAIL, "text-3", anchor="end", halo=halo))

    def _title(self, x: float, y: float, box: GraphBox, halo: str = "") -> None:
        label = self.labels.of(box)
        self.shapes.append(Text(x, y, label.title, TITLE, "text", bold=True, halo=halo))
        x += text_width(label.title, TITLE, bold=True) + 6
        if label.kind:
            self.shapes.append(Text(x, y, label.kind, TITLE, "text-2", halo=halo))
            x += text_width(label.kind, TITLE) + 6
        if label.badge:
            width = text_width(label.badge, DETAIL, bold=True) + 10
            self.shapes.append(Rect(x + 2, y - 12, width, 16, 8, "badge", "badge"))
            self.shapes.append(Text(x + 2 + width / 2, y, label.badge, DETAIL, "badge-text", True, "middle"))

    def _item(self, frame: Frame) -> None:
        thing = frame.item.thing
        if thing is None:
            return
        fill = self.colours.of(thing)
        label = self.labels.of(thing)
        is_box = isinstance(thing, GraphBox)
        stacked = isinstance(thing, GraphBox) and thing.repeat > 1
        if stacked:
            self._rect(frame, 7.0, fill, f"{fill}-line", shift=4.0)
        tensor = not isinstance(thing, GraphBox) and thing.kind != "op"
        line = "bad-line" if thing.nonfinite or thing.error else f"{fill}-line"
        radius = frame.height / 2 if tensor else 7.0 if is_box else 5.0
        self._rect(frame, radius, fill, line, self.labels.tip(thing), dashed=fill == "shape")
        middle = frame.x + frame.width / 2
        y = frame.y + (17 if label.detail else frame.height / 2 + 4)
        if isinstance(thing, GraphBox):
            self._title(middle - label.title_width() / 2, y, thing)
        else:
            self.shapes.append(Text(middle, y, label.title, TITLE, "text", bold=False, anchor="middle"))
        if label.detail:
            ink = "text" if fill.startswith("heat") and fill > "heat5" else "text-2"
            self.shapes.append(Text(middle, frame.y + 32, label.detail, DETAIL, ink, anchor="middle"))

    def _rect(
        self, frame: Frame, radius: float, fill: str, line: str, tip: str = "", shift: float = 0.0, dashed: bool = False
    ) -> None:
        at = (frame.x + shift, frame.y + shift)
        self.shapes.append(Rect(*at, frame.width, frame.height, radius, fill, line, tip, dashed))

    def _curve(self, wire: Wire) -> Curve:
        start, *rest = wire.points
        tensors = list(dict.fromkeys(tensor for flow in wire.flows for tensor in flow.tensors))
        if wire.arrow:  # the line ends where the arrow head begins
            x, y = rest[-1]
            back = -_HEAD if y >= start[1] else _HEAD
            rest[-1] = (x, y + back + 0.5)
        pieces: list[tuple[Point, ...]] = []
        before = start
        for point in rest:
            straight = abs(before[0] - point[0]) < 0.5
            middle = (before[1] + point[1]) / 2
            pieces.append((point,) if straight else ((before[0], middle), (point[0], middle), point))
            before = point
        return Curve(start, pieces, wire.arrow, self.labels.flow_tip(tensors))

    def _wire_label(self, wire: Wire) -> None:
        thing = wire.flows[0].source.thing
        if not wire.starts or thing is None:
            return
        tensors = list(dict.fromkeys(tensor for flow in wire.flows for tensor in flow.tensors))
        words = self.labels.flow(tensors, thing.outputs)
        if words:
            end = wire.points[-1] if len(wire.points) == 2 else wire.points[1]
            x, y = (wire.points[0][0] + 3 * end[0]) / 4, (wire.points[0][1] + 2 * end[1]) / 3
            self.shapes.append(Text(x + 4, y + 3, words, 9.5, "text-3", halo=self._ground(wire)))

    def _ground(self, wire: Wire) -> str:
        around = wire.flows[0].source.parent
        return "page" if around is None or around.thing is None else _ground_of(around)

    def _legend(self, y: float) -> float:
        x = 18.0
        for entry, words in self.colours.legend:
            self.shapes.append(Rect(x, y + 2, 14, 14, 3, entry, f"{entry}-line"))
            self.shapes.append(Text(x + 20, y + 13, words, DETAIL, "text-2"))
            x += 38 + text_width(words, DETAIL)
        return x


def _ground_of(item: Item) -> str:
    """The color inside an open box: two alternate, so that nested boxes are distinguishable."""
    depth, around = 0, item.parent
    while around is not None:
        depth, around = depth + 1, around.parent
    return "box" if depth % 2 else "box-2"
