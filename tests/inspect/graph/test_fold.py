from __future__ import annotations

import pytest

from stepscope.inspect.graph.build import build_graph
from stepscope.inspect.graph.shown import shown, starting_boxes

from .steps import Writer, transformer


def folds(step: Writer) -> dict[str, int]:
    return {box.label: box.repeat for box in build_graph(step.record()).boxes if box.repeat > 1}


def test_twelve_equal_blocks_are_drawn_once() -> None:
    graph = build_graph(transformer(12))
    assert {box.label: box.repeat for box in graph.boxes if box.repeat > 1} == {"h.0": 12}
    [head] = [box for box in graph.boxes if box.repeat == 12]
    folded = [box for box in graph.boxes if box.fold == head.id]
    assert [box.path for box in folded] == [f"h.{number}" for number in range(1, 12)]
    for box in folded:
        for shift in range(box.count):
            mine, first = graph.nodes[box.first + shift], graph.nodes[head.first + shift]
            assert (mine.name, mine.kind) == (first.name, first.kind)


def test_folded_blocks_keep_the_flow_from_before_to_after() -> None:
    graph = build_graph(transformer(12))
    drawing = shown(graph, {0})
    names = [getattr(item.thing, "label", None) or getattr(item.thing, "name", None) for item in drawing.items]
    assert names == ["Net", "embed", "h.0", "head", "input", "output"]
    flows = [
        tuple(
            getattr(end.thing, "label", None) or getattr(end.thing, "name", None) for end in (flow.source, flow.target)
        )
        for flow in drawing.flows
    ]
    assert flows == [("input", "embed"), ("embed", "h.0"), ("h.0", "head"), ("head", "output")]
    assert [len(flow.tensors) for flow in drawing.flows] == [1, 1, 1, 1]


def test_unfolded_all_blocks_are_there() -> None:
    graph = build_graph(transformer(12))
    drawing = shown(graph, {0}, fold=False)
    assert len(drawing.root.children[1].children) == 14
    assert len(drawing.flows) == 15


def test_projections_side_by_side_are_not_folded() -> None:
    step = Writer()
    x = step.input(2, 4)
    with step.module("", "Net"):
        step.op("sdpa", *(step.layer(name, x) for name in ("q", "k", "v", "o")))
    assert folds(step) == {}


def test_numbered_experts_side_by_side_are() -> None:
    step = Writer()
    x = step.input(2, 4)
    with step.module("", "Net"):
        step.op("stack", *(step.layer(f"experts.{number}", x) for number in range(8)))
    assert folds(step) == {"experts.0": 8}


def test_turns_of_a_loop_get_a_box_and_fold() -> None:
    step = Writer()
    x, h = step.input(4, 20, 8), step.input(4, 16)
    with step.module("", "RNN"):
        for _ in range(20):
            part = step.op("getitem", x, shape=(4, 8))
            with step.module("cell", "GRUCell"):
                h = step.op("gru_cell", part, h, shape=(4, 16))
        step.layer("out", h)
    assert folds(step) == {"getitem, cell": 20}


@pytest.mark.parametrize("width", [4, 8])
def test_blocks_of_other_shapes_do_not_fold(width: int) -> None:
    step = Writer()
    x = step.input(2, 4)
    with step.module("", "Net"):
        for number in range(4):
            x = step.layer(f"layers.{number}", x, width=4 if number < 2 else width)
    assert folds(step) == ({"layers.0": 4} if width == 4 else {})


def test_blocks_with_other_edges_inside_do_not_fold() -> None:
    step = Writer()
    x = step.input(2, 4)
    with step.module("", "Net"):
        for number in range(3):
            with step.module(f"b.{number}"):
                a = step.op("relu", x)
                b = step.op("relu", a)
                c = step.op("relu", b)
                x = step.op("add", c, a if number < 2 else b)
    assert folds(step) == {"b.0": 2}


def test_two_plain_layers_in_a_row_stay_as_they_are() -> None:
    step = Writer()
    x = step.input(2, 4)
    with step.module("", "Net"):
        x = step.layer("fc1", x)
        x = step.layer("fc2", x)
    assert folds(step) == {}


def test_boxes_start_open_as_far_as_one_can_take_in() -> None:
    small, large = build_graph(transformer(2)), build_graph(transformer(12))
    opened = [large.boxes[number].label for number in sorted(starting_boxes(large))]
    assert opened[:3] == ["Net", "h.0", "attn"]
    assert starting_boxes(small)
    assert len(shown(large, starting_boxes(large)).items) < 60
