"""Graphs of real models, recorded."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from stepscope.inspect.graph import Graph, graph_of
from stepscope.records.edges import edges
from stepscope.records.step import StepRecord

torch = pytest.importorskip("torch")
nn = torch.nn


class Block(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc = nn.Linear(width, width)

    def forward(self, x):  # type: ignore[no-untyped-def]
        return x + torch.relu_(self.fc(self.norm(x)))


class Language(nn.Module):  # type: ignore[misc, name-defined]
    """Six blocks and an output layer that shares its weight with the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.blocks = nn.ModuleList(Block(8) for _ in range(6))
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):  # type: ignore[no-untyped-def]
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@pytest.fixture(scope="module")
def record() -> StepRecord:
    from stepscope.record.recorder import Recorder

    torch.manual_seed(0)
    model = Language()
    tokens = torch.randint(11, (2, 5))
    recorder = Recorder(model)
    with recorder:
        logits = model(tokens)
        nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
    assert recorder.record is not None
    return recorder.record


def test_every_recorded_edge_of_the_drawn_ops_is_there(record: StepRecord) -> None:
    data = graph_of(record).data
    drawn = {node.op for node in data.nodes if node.op is not None}
    expected = {(maker, reader) for maker, reader, _ in edges(record) if maker in drawn and reader in drawn}
    found = {(data.nodes[edge.source].op, data.nodes[edge.target].op) for edge in data.edges}
    assert {pair for pair in found if None not in pair} == expected
    assert len(expected) > 25


def test_blocks_fold_and_the_tied_weight_is_near_both_its_readers(record: StepRecord) -> None:
    data = graph_of(record).data
    assert {box.label: box.repeat for box in data.boxes if box.repeat > 1} == {"blocks.0": 6}
    tied = [
        node
        for node in data.nodes
        if node.outputs and data.tensors[node.outputs[0]].name == "embed.weight, head.weight"
    ]
    assert [data.boxes[node.box].label for node in tied if node.box is not None and node.kind == "parameter"] == [
        "embed",
        "head",
    ]


def test_inputs_and_the_loss_are_the_ends(record: StepRecord) -> None:
    data = graph_of(record).data
    ends = [(node.name, node.kind, data.tensors[node.outputs[0]].shape) for node in data.nodes if node.box is None]
    assert ("input", "input", [2, 5]) in ends
    assert ends[-1] == ("output", "output", [])


@pytest.mark.parametrize(
    "options", [{}, {"backward": True, "depth": 9}, {"parameters": True, "depth": 9, "fold": False}]
)
def test_it_can_be_drawn(record: StepRecord, options: dict[str, object]) -> None:
    graph: Graph = graph_of(record, **options)  # type: ignore[arg-type]
    ET.fromstring(graph.svg())
    assert graph.dot().startswith("digraph")
