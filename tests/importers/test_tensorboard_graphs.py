"""A graph of TensorBoard's is drawn as a recorded step, whatever it holds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from stepscope.eventfiles.graphs import Function, Node
from stepscope.eventfiles.wire import put_bytes, put_text
from stepscope.importers.foreign import Thing
from stepscope.importers.tensorboard.graph_calls import unfolded
from stepscope.importers.tensorboard.graph_step import graph_step
from stepscope.importers.tensorboard.graphs import graph_things, traced_things
from stepscope.inspect.graph.build import build_graph
from stepscope.inspect.logged import read_logged
from stepscope.inspect.step import Step
from stepscope.records.step import StepRecord


def traced_by_torch() -> list[Node]:
    body = "Net/Sequential[body]"
    return [
        Node("input/x.1", "IO Node", [], shapes=[[2, 4]]),
        Node("output/output.1", "IO Node", [f"{body}/ReLU[1]/9"], shapes=[[2, 3]]),
        Node(f"{body}/ReLU[1]/9", "aten::relu", [f"{body}/Linear[0]/8"], shapes=[[2, 3]]),
        Node(f"{body}/Linear[0]/weight/weight.1", "prim::GetAttr", [f"{body}/Linear[0]/weight/0.1"]),
        Node(f"{body}/Linear[0]/5", "prim::Constant", attributes={"attr": "{ value : 1}"}),
        Node(f"{body}/Linear[0]/6", "prim::ListConstruct", [f"{body}/Linear[0]/5", f"{body}/Linear[0]/5"]),
        Node(
            f"{body}/Linear[0]/8",
            "aten::linear",
            ["input/x.1", f"{body}/Linear[0]/weight/weight.1", f"{body}/Linear[0]/6"],
            shapes=[[2, 3]],
        ),
    ]


def test_pytorchs_scopes_are_modules_and_its_constants_arguments() -> None:
    record = graph_step(traced_by_torch(), 5.0)
    assert (record.model, record.started) == ("Net", 5.0)
    assert [(module.path, module.type) for module in record.modules] == [
        ("", "Net"), ("body", "Sequential"), ("body.1", "ReLU"), ("body.0", "Linear"),
    ]  # fmt: skip
    linear, relu = record.ops
    assert (linear.name, linear.module, linear.args) == ("linear", "body.0", {"arg2": [1, 1]})
    assert (relu.name, relu.module, relu.inputs) == ("relu", "body.1", linear.outputs)
    tensors = {tensor.id: tensor for tensor in record.tensors}
    data, weight = (tensors[ref.id] for ref in linear.inputs)
    assert (data.kind, data.name, data.shape) == ("input", "x", (2, 4))
    assert (weight.kind, weight.name) == ("parameter", "body.0.weight")
    calls = {call.path: call for call in record.calls}
    assert calls["body.0"].outputs == linear.outputs
    assert calls[""].outputs == relu.outputs  # what the graph returns


def test_the_drawing_has_its_boxes_edges_and_output() -> None:
    graph = build_graph(graph_step(traced_by_torch(), 0.0))
    assert [box.label for box in graph.boxes] == ["Net", "body", "0", "1"]
    names = {node.id: node.name for node in graph.nodes}
    assert {(names[edge.source], names[edge.target]) for edge in graph.edges} == {
        ("x", "linear"), ("weight", "linear"), ("linear", "relu"), ("relu", "output"),
    }  # fmt: skip


def test_what_reads_gradients_is_the_optimizer() -> None:
    nodes = [
        Node("x", "Placeholder", attributes={"dtype": "float32", "shape": [-1, 4]}),
        Node("dense/w", "VarHandleOp", attributes={"dtype": "resource"}),
        Node("dense/MatMul", "MatMul", ["x", "dense/w"], attributes={"T": "float32", "transpose_a": False}),
        Node("gradient_tape/dense/MatMul", "MatMul", ["dense/MatMul", "^x"]),
        Node("adam/Sub", "Sub", ["gradient_tape/dense/MatMul", "dense/w"]),
    ]
    record = graph_step(nodes, 0.0)
    assert [(op.name, op.phase) for op in record.ops] == [
        ("MatMul", "forward"), ("MatMul", "backward"), ("Sub", "optimizer"),
    ]  # fmt: skip
    assert record.ops[0].args == {"transpose_a": False}
    assert [node.name for node in build_graph(record).nodes if node.kind == "op"] == ["MatMul"]


def test_a_loop_and_a_missing_input_are_drawn_all_the_same() -> None:
    nodes = [Node("a", "Merge", ["b", "gone:3"]), Node("b", "Next", ["c"]), Node("c", "Add", ["a", "c"])]
    record = graph_step(nodes, 0.0)
    assert sorted(op.name for op in record.ops) == ["Add", "Merge", "Next"]
    assert len(build_graph(record).nodes) >= 3


def test_a_called_function_is_drawn_from_inside() -> None:
    call = Node("call", "StatefulPartitionedCall", ["x", "y"], attributes={"f": "step"})
    inner = Node("mul", "Mul", ["a", "inner/Add:z:0"])
    function = Function(["a", "b"], [Node("inner/Add", "AddV2", ["a", "b"]), inner], ["mul:z:0", "b"])
    nodes = [Node("x", "Placeholder"), Node("y", "Placeholder"), call, Node("out", "Pack", ["call", "call:1"])]
    found = {node.name: node.inputs for node in unfolded(nodes, {"step": function}, 100)}
    assert found == {
        "x": [], "y": [], "call/inner/Add": ["x", "y"], "call/mul": ["x", "call/inner/Add:z:0"],
        "out": ["call/mul:z:0", "y"],
    }  # fmt: skip
    endless = Function([], [Node("again", "step")], [])
    assert len(unfolded([Node("call", "step")], {"step": endless}, 100)) == 1
    doubling = Function([], [Node("one", "step"), Node("two", "step")], [])
    assert len(unfolded([Node("call", "step")], {"step": doubling}, 100)) <= 100


def test_a_graph_in_a_file_becomes_a_step_and_a_table() -> None:
    nodes = b"".join(
        put_bytes(
            1, put_text(1, f"layer{n}/op") + put_text(2, "Relu") + (put_text(3, f"layer{n - 1}/op") if n else b"")
        )
        for n in range(3)
    )
    for made in (
        graph_things(nodes, "graph", 4, 1.0),
        traced_things(put_bytes(4, put_bytes(2, nodes)), "graph", 4, 1.0),
    ):
        step, table = made
        assert isinstance(step, Thing)
        assert isinstance(table, Thing)
        assert (step.media.key, step.media.kind, step.media.step) == ("graph", "step", 4)
        assert table.media.key == "graph/nodes"
        record = read_logged(step.data or b"", "graph")
        assert [op.module for op in record.ops] == ["layer0", "layer1", "layer2"]
    assert traced_things(b"", "graph", 0, 1.0) == graph_things(b"", "graph", 0, 1.0) == []


def test_thousands_of_nodes_are_drawn() -> None:
    nodes = [
        Node(f"block{n // 50}/layer/op{n}", "Conv", [f"block{(n - 1) // 50}/layer/op{n - 1}"]) for n in range(2_000)
    ]
    graph = build_graph(graph_step(nodes, 0.0))
    assert sum(node.kind == "op" for node in graph.nodes) == 2_000


NAMES = st.sampled_from(
    ["a", "b", "a/b", "a/b/c", "Net/Linear[fc]/1", "gradients/a", "", "/", "a.b/c", "x" * 50 + "/y"]
)
NODES = st.lists(
    st.builds(
        Node,
        name=NAMES,
        op=st.sampled_from(
            ["Add", "Const", "prim::ListConstruct", "prim::GetAttr", "IO Node", "aten::x", "Placeholder"]
        ),
        inputs=st.lists(st.one_of(NAMES, NAMES.map("^{}".format), NAMES.map("{}:2".format)), max_size=4),
        shapes=st.lists(st.lists(st.integers(-1, 5), max_size=3), max_size=3),
        attributes=st.sampled_from([{}, {"attr": "{ value : x}"}, {"value": [1]}, {"T": ["int32"], "k": None}]),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(nodes=NODES)
def test_whatever_a_graph_claims_it_can_be_drawn(nodes: list[Node]) -> None:
    record: StepRecord = graph_step(nodes, 0.0)
    assert [op.index for op in record.ops] == list(range(len(record.ops)))
    build_graph(record, ["forward", "backward", "optimizer"])
    Step(record).table(by="module")


@pytest.mark.parametrize("text", ["{ value : 1e-05}", "{ value : [1, 2]}", "{ name :  bias }"])
def test_constants_are_read_from_the_tracers_text(text: str) -> None:
    nodes = [Node("N/1", "prim::Constant", attributes={"attr": text}), Node("N/2", "aten::relu", ["N/1"])]
    expected = {"{ value : 1e-05}": {"arg0": 1e-05}, "{ value : [1, 2]}": {"arg0": [1, 2]}}.get(text, {})
    assert graph_step(nodes, 0.0).ops[0].args == expected
