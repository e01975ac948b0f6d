"""The graph of a step as plain data: what the exports draw, and what the browser is sent.

Boxes and nodes are numbered by one walk through the nested boxes, so everything inside a box is a range of numbers:
nodes `first .. first + count - 1`, boxes `id + 1 .. id + boxes`. Blocks that are equal therefore correspond number by
number: in a folded block `b` with `fold = h`, node `n` is drawn as node `n - b.first + h.first`, and box `c` as box
`c - b.id + h.id`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stepscope.records.step import Phase, Site, Stats

__all__ = ["GRAPH_FORMAT", "GraphBox", "GraphData", "GraphEdge", "GraphNode", "GraphTensor", "NodeKind"]

GRAPH_FORMAT = 1

NodeKind = Literal["op", "parameter", "buffer", "input", "output"]


class GraphTensor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A tensor on an edge."""

    shape: list[int]
    dtype: str
    device: str
    name: str | None = None
    """Of a parameter or buffer; a shared one has all its names, with commas."""
    kind: str = "intermediate"
    """parameter, buffer, input, intermediate, gradient, constant or state."""
    bytes: int = 0
    requires_grad: bool = False


class GraphNode(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An op, or a tensor that no drawn op made (input, parameter, buffer), or that leaves the step (output)."""

    id: int
    name: str
    kind: NodeKind = "op"
    box: int | None = None
    """The innermost box it is in; None outside all."""
    phase: Phase = "forward"
    op: int | None = None
    """Its index in the recorded step."""
    args: str = ""
    """The arguments that are not tensors, as text."""
    outputs: list[int] = []
    """What it made: indices into `tensors`."""
    site: int | None = None
    """Where the user's code called it: an index into `sites`."""
    time_us: float | None = None
    """On the device where that was measured, else on the host."""
    flops: int | None = None
    saved_bytes: int = 0
    """Kept for backward."""
    nonfinite: bool = False
    """Wrote a NaN or an Inf. Known only when `GraphData.values` is set."""
    stats: list[Stats | None] = []
    """What each of `outputs` held; empty when the values were not looked at."""
    inplace: bool = False
    view: bool = False
    forward: int | None = None
    """For a backward op: the node it differentiates."""
    error: str | None = None


class GraphBox(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One call of a module, or one turn of a loop that was recognized by its repetition."""

    id: int
    label: str
    """Its path as seen from the box around it: `0.conv1`; the model's class for the model itself."""
    parent: int | None = None
    path: str | None = None
    """The module's path; "" for the model; None when it is no module."""
    type: str = ""
    """The module's class; "" when it is no module."""
    call: int = 0
    """Which call of the module, from 0."""
    calls: int = 1
    """How many calls of that module there are in the step."""
    phase: Phase = "forward"
    """backward and optimizer have boxes of their own, so that data flows one way between boxes."""
    extra: str = ""
    """The module's arguments: `in_features=784, out_features=10`."""
    site: int | None = None
    """Where the module was constructed."""
    first: int = 0
    """Its nodes, those of inner boxes included: `first .. first + count - 1`."""
    count: int = 0
    boxes: int = 0
    """How many boxes are inside, at any depth: they have the next numbers."""
    outputs: list[int] = []
    """What the call returned: indices into `tensors`."""
    ops: int = 0
    parameters: int = 0
    """Of the module and those inside it."""
    time_us: float | None = None
    flops: int | None = None
    """The sum over the ops that have a formula; None when none has."""
    saved_bytes: int = 0
    nonfinite: bool = False
    """An op inside wrote a NaN or an Inf."""
    repeat: int = 1
    """How many equal blocks it stands for while they are folded; they follow it and name it in `fold`."""
    fold: int | None = None
    """The first of the equal blocks, which stands for this one while they are folded."""
    open: bool = False
    """Whether it is open at first; a reader sees a few dozen things, not thousands."""
    error: str | None = None


class GraphEdge(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A tensor from the node that made it to one that reads it."""

    source: int
    target: int
    tensor: int
    """An index into `tensors`."""
    version: int = 0
    """How often the tensor had been written in place by then."""


class GraphData(msgspec.Struct, frozen=True, kw_only=True):
    """The whole graph of a step, everything included; which boxes are open is the reader's choice."""

    format: int = GRAPH_FORMAT
    model: str = ""
    device: str = "cpu"
    torch: str = ""
    boxes: list[GraphBox] = []
    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    tensors: list[GraphTensor] = []
    sites: list[Site] = []
    phases: list[Phase] = []
    """The phases that are drawn."""
    values: bool = False
    """Whether values were looked at, so that "no NaN" means something."""
    unseen: list[str] = []
    """What the recording knows it did not see."""
    error: str | None = None
    """The exception that ended the step."""
    color: Literal["time", "memory", "flops", "dtype", "device", "nonfinite"] | None = None
    """What the viewer colors by at first; None leaves it to the viewer."""
    parameters: bool = False
    """Whether weights are nodes at first."""
