from __future__ import annotations

import msgspec

from stepscope.inspect.graph.build import build_graph
from stepscope.inspect.graph.data import GraphData
from stepscope.records.step import ModuleCall, Op, Stats, StepRecord, TensorRef

from .steps import Writer, transformer


def edges(graph: GraphData) -> list[str]:
    """Every edge as `maker -> reader`, in words."""
    names = [node.name if node.op is None else f"{node.name}#{node.op}" for node in graph.nodes]
    return [f"{names[edge.source]} -> {names[edge.target]}" for edge in graph.edges]


def test_edges_run_from_what_made_a_tensor_to_what_reads_it() -> None:
    step = Writer()
    x = step.input(2, 4)
    with step.module("", "Net"):
        a = step.op("relu", x)
        b = step.op("mul", a, a)
        step.op("add", b, x)
    graph = build_graph(step.record())
    assert edges(graph) == ["input -> relu#0", "relu#0 -> mul#1", "mul#1 -> add#2", "input -> add#2", "add#2 -> output"]


def test_a_write_in_place_stands_between_its_maker_and_later_readers() -> None:
    step = Writer()
    with step.module("", "Net"):
        x = step.op("randn")
        changed = TensorRef(x.id, 1)
        step.op("relu_", x, outputs=(changed,), inplace=True)
        step.op("sum", changed)
    graph = build_graph(step.record())
    assert edges(graph)[:2] == ["randn#0 -> relu_#1", "relu_#1 -> sum#2"]
    assert graph.edges[1].version == 1


def test_a_write_through_a_view_is_seen_by_readers_of_the_base() -> None:
    step = Writer()
    with step.module("", "Net"):
        base = step.op("zeros")
        part = step.tensor((2,), storage=step.tensors[base.id].storage, view_of=base.id)
        step.op("getitem", base, outputs=(part,), view=True)
        step.op("fill_", part, outputs=(TensorRef(part.id, 1),), inplace=True)
        step.op("sum", TensorRef(base.id, 1))
    assert edges(build_graph(step.record()))[2] == "fill_#2 -> sum#3"


def test_an_op_that_hands_its_input_on_is_the_maker_for_those_after_it() -> None:
    step = Writer()
    with step.module("", "Net"):
        x = step.op("randn")
        step.op("dropout", x, outputs=(x,))
        step.op("sum", x)
    assert edges(build_graph(step.record()))[:2] == ["randn#0 -> dropout#1", "dropout#1 -> sum#2"]


def test_boxes_are_calls_and_a_module_called_twice_has_two() -> None:
    step = Writer()
    x = step.input(2, 4)
    with step.module("", "Net"):
        x = step.layer("shared", x)
        x = step.op("tanh", x)
        x = step.layer("shared", x)
    graph = build_graph(step.record())
    assert [(box.path, box.call, box.calls, box.parent) for box in graph.boxes] == [
        ("", 0, 1, None),
        ("shared", 0, 2, 0),
        ("shared", 1, 2, 0),
    ]
    weights = [node for node in graph.nodes if node.kind == "parameter"]
    assert [(node.name, node.box) for node in weights] == [("weight", 1), ("weight", 2)], "near each of its readers"
    assert weights[0].outputs == weights[1].outputs, "it is one tensor"


def test_what_is_inside_a_box_is_a_range() -> None:
    graph = build_graph(transformer(3))
    for box in graph.boxes:
        inside = {box.id}
        for other in graph.boxes:
            if other.parent in inside:
                inside.add(other.id)
        assert sorted(inside) == list(range(box.id, box.id + box.boxes + 1))
        assert [n.id for n in graph.nodes if n.box in inside] == list(range(box.first, box.first + box.count))


def test_set_up_is_drawn_only_where_it_leads_to_the_forward_pass() -> None:
    step = Writer()
    step.phase = "setup"
    wanted = step.op("to", step.input(2, 4))
    step.op("rand")
    step.phase = "forward"
    with step.module("", "Net"):
        step.op("relu", wanted)
    graph = build_graph(step.record())
    assert [node.name for node in graph.nodes if node.kind == "op"] == ["to", "relu"]


def test_code_that_never_ran_a_model_is_drawn_too() -> None:
    step = Writer()
    step.phase = "setup"
    step.op("matmul", step.op("rand"), step.op("rand"))
    assert edges(build_graph(step.record())) == ["rand#0 -> matmul#2", "rand#1 -> matmul#2"]


def test_backward_is_a_mirror_image_with_boxes_of_its_own() -> None:
    step = Writer()
    with step.module("", "Net"):
        y = step.layer("fc", step.input(2, 4))
    gradient = step.tensor((2, 4), kind="gradient")
    grad = step.tensor((4, 4), kind="gradient", grad_of=1)
    ops = step.record().ops
    ops += (
        Op(index=1, name="AddmmBackward0", phase="backward", forward=0, inputs=(gradient,), outputs=(grad,)),
        Op(index=2, name="AccumulateGrad", phase="backward", inputs=(grad,), outputs=(grad,)),
    )
    record = msgspec.structs.replace(step.record(loss=y), ops=ops)
    graph = build_graph(record, ["forward", "loss", "backward"])
    assert [(box.label, box.phase, box.parent) for box in graph.boxes] == [
        ("Net", "forward", None),
        ("fc", "forward", 0),
        ("backward", "backward", None),
        ("Net", "backward", 2),
        ("fc", "backward", 3),
    ]
    by_name = {node.name: node for node in graph.nodes}
    assert by_name["AccumulateGrad"].box == by_name["AddmmBackward0"].box == 4
    assert by_name["AddmmBackward0"].forward == by_name["linear"].id
    assert [node.name for node in build_graph(record).nodes if node.kind == "op"] == ["linear"]


def test_costs_add_up_from_the_inside_out() -> None:
    from stepscope.records.step import Cost

    step = Writer()
    with step.module("", "Net"):
        with step.module("a"):
            x = step.op("mul", step.input(2), cost=Cost(host_us=3.0, flops=8, saved_bytes=16))
        step.op("mystery", x, cost=Cost(host_us=1.0), output_stats=(Stats(numel=8, nan=1),))
    graph = build_graph(step.record())
    net, a = graph.boxes
    assert (net.time_us, net.flops, net.saved_bytes, net.ops, net.nonfinite) == (4.0, 8, 16, 2, True)
    assert (a.time_us, a.flops, a.nonfinite, graph.values) == (3.0, 8, False, True)


def test_the_graph_travels_as_json() -> None:
    graph = build_graph(transformer(3))
    assert msgspec.json.decode(msgspec.json.encode(graph), type=GraphData) == graph


def test_a_file_with_impossible_numbers_still_gives_a_graph() -> None:
    calls = (ModuleCall(path="a", call=0, parent=1), ModuleCall(path="b", call=0, parent=-9))
    ops = (
        Op(index=0, name="x", phase="forward", module="b", site=99, inputs=(TensorRef(5),), outputs=(TensorRef(7),)),
        Op(index=1, name="y", phase="backward", forward=400, module=None),
        Op(index=2, name="z", phase="forward", module="nowhere", inputs=(TensorRef(7),)),
    )
    graph = build_graph(StepRecord(ops=ops, calls=calls), ["forward", "backward"])
    assert [node.name for node in graph.nodes if node.kind == "op"] == ["x", "y", "z"]
    assert graph.edges == []


def test_deep_nesting_needs_no_recursion() -> None:
    step = Writer()
    from contextlib import ExitStack

    with ExitStack() as stack:
        for depth in range(1500):
            stack.enter_context(step.module(".".join(["m"] * (depth % 50 + 1)) + str(depth)))
        step.op("relu", step.input(1))
    graph = build_graph(step.record())
    assert (len(graph.boxes), graph.boxes[-1].count) == (1500, 1)
