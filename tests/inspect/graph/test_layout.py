from __future__ import annotations

import random
from itertools import pairwise

import pytest

from stepscope.inspect.graph.build import build_graph
from stepscope.inspect.graph.data import GraphData
from stepscope.inspect.graph.layout import Frame, Layout, lay_out
from stepscope.inspect.graph.scene import Curve, scene_of
from stepscope.inspect.graph.shown import boxes_to_depth, shown, starting_boxes

from .steps import Writer, transformer


def unet() -> GraphData:
    step = Writer()
    x = step.input(1, 3)
    with step.module("", "UNet"):
        skips = []
        for level in range(4):
            x = step.layer(f"down.{level}", x, width=2**level)
            skips.append(x)
            x = step.op("max_pool2d", x)
        for level in range(4):
            x = step.op("cat", skips.pop(), step.layer(f"up.{level}", x, width=10 + level))
    return build_graph(step.record())


def tangle(seed: int) -> GraphData:
    """A random graph in random boxes."""
    choose = random.Random(seed)
    step = Writer()
    made = [step.input(2, 4)]
    with step.module("", "Tangle"):
        for number in range(12):
            with step.module(f"part.{number}", "Part", f"part{number}"):
                for _ in range(choose.randint(1, 5)):
                    made.append(step.op(choose.choice(["mul", "add", "relu"]), *choose.sample(made, min(3, len(made)))))
            if choose.random() < 0.5:
                made.append(step.op("cat", *choose.sample(made, min(4, len(made)))))
    return build_graph(step.record())


GRAPHS = {
    "transformer": lambda: build_graph(transformer(4)),
    "unet": unet,
    **{f"tangle{seed}": (lambda seed=seed: tangle(seed)) for seed in range(4)},
}


def check(layout: Layout) -> None:
    frames = {frame.item: frame for frame in layout.frames}
    for frame in layout.frames:
        parent = frame.item.parent
        if parent in frames:
            assert inside(frame, frames[parent]), f"{frame} is not in {frames[parent]}"
        else:
            assert frame.x >= 0
            assert frame.x + frame.width <= layout.width
        for other in layout.frames:
            if other is not frame and other.item.parent is parent:
                assert apart(frame, other), f"{frame} and {other} overlap"
    for wire in layout.wires:
        ys = [y for _, y in wire.points]
        assert ys == sorted(ys), "an edge goes up"


def inside(one: Frame, other: Frame) -> bool:
    return (
        one.x >= other.x
        and one.y >= other.y
        and one.x + one.width <= other.x + other.width
        and one.y + one.height <= other.y + other.height
    )


def apart(one: Frame, other: Frame) -> bool:
    return (
        one.x + one.width <= other.x
        or other.x + other.width <= one.x
        or one.y + one.height <= other.y
        or other.y + other.height <= one.y
    )


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("depth", [None, 1, 9])
def test_nothing_overlaps_and_edges_go_down(name: str, depth: int | None) -> None:
    graph = GRAPHS[name]()
    opened = starting_boxes(graph) if depth is None else boxes_to_depth(graph, depth, parameters=True)
    check(lay_out(shown(graph, opened, fold=depth != 9, parameters=depth == 9)))


@pytest.mark.parametrize("name", GRAPHS)
def test_every_flow_is_drawn_in_one_unbroken_line(name: str) -> None:
    graph = GRAPHS[name]()
    drawing = shown(graph, boxes_to_depth(graph, 9))
    layout = lay_out(drawing)
    frames = {frame.item: frame for frame in layout.frames}
    for flow in drawing.flows:
        wires = sorted((wire for wire in layout.wires if flow in wire.flows), key=lambda wire: wire.points[0][1])
        source, target = frames[flow.source], frames[flow.target]
        assert wires[0].points[0][1] == pytest.approx(source.y + source.height)
        assert wires[-1].points[-1][1] == pytest.approx(target.y)
        for one, after in pairwise(wires):
            assert one.points[-1] == pytest.approx(after.points[0]), "the pieces meet at the ports"


def test_a_chain_is_straight() -> None:
    step = Writer()
    x = step.input(2, 4)
    with step.module("", "Net"):
        for name in ("relu", "mul", "scaled_dot_product_attention", "add"):
            x = step.op(name, x)
    graph = build_graph(step.record())
    layout = lay_out(shown(graph, {0}))
    xs = {round(x, 3) for wire in layout.wires for x, _ in wire.points}
    assert len(xs) == 1


def test_the_same_graph_is_always_drawn_the_same() -> None:
    def picture() -> list[tuple[float, ...]]:
        graph = tangle(7)
        layout = lay_out(shown(graph, boxes_to_depth(graph, 9)))
        return [(frame.x, frame.y, frame.width, frame.height) for frame in layout.frames]

    assert picture() == picture()


@pytest.mark.parametrize("name", GRAPHS)
def test_no_line_turns_back_to_leave_room_for_its_arrow(name: str) -> None:
    graph = GRAPHS[name]()
    scene = scene_of(shown(graph, starting_boxes(graph)))
    for curve in (shape for shape in scene.shapes if isinstance(shape, Curve)):
        ends = [curve.start[1], *(piece[-1][1] for piece in curve.pieces)]
        assert ends in (sorted(ends), sorted(ends, reverse=True))
