"""The graph of a step as plain data, for the exports and the browser.

Boxes and nodes are numbered in one traversal of the nested boxes, so everything inside a box is a range of numbers:
nodes `first .. first + count - 1`, boxes `id + 1 .. id + boxes`. Equal blocks therefore correspond number by
number: in a folded block `b` with `fold = h`, node `n` is drawn as node `n - b.first + h.first`, and box `c` as box
`c - b.id + h.id`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stepscope.records.step import Phase, Site, Stats

GRAPH_FORMAT = 1

NodeKind = Literal["op", "parameter", "buffer", "input", "output"]


class GraphTensor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A tensor on an edge."""

    shape: list[int]
    dtype: str
    device: str
    name: str | None = None
    """Of a parameter or buffer; a shared one has all its names, separated by commas."""
    kind: str = "intermediate"
    """parameter, buffer, input, intermediate, gradient, constant or state."""
    bytes: int = 0
    requires_grad: bool = False


class GraphNode(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An op, a tensor that no drawn op made (input, parameter, buffer), or one that leaves the step (output)."""

    id: int
    name: str
    kind: NodeKind = "op"
    box: int | None = None
    """Its innermost box; None outside all boxes."""
    phase: Phase = "forward"
    op: int | None = None
    """Its index in the recorded step."""
    args: str = ""
    """The arguments that are not tensors, as text."""
    outputs: list[int] = []
    """Its outputs: indices into `tensors`."""
    site: int | None = None
    """Where the user's code called it: an index into `sites`."""
    time_us: float | None = None
    """On the device where that was measured, else on the host."""
    flops: int | None = None
    saved_bytes: int = 0
    """Saved for backward."""
    nonfinite: bool = False
    """Its output contains NaN or Inf. Known only if `GraphData.values` is set."""
    stats: list[Stats | None] = []
    """Statistics of each of `outputs`; empty if values were not recorded."""
    inplace: bool = False
    view: bool = False
    forward: int | None = None
    """For a backward op: the node it differentiates."""
    error: str | None = None


class GraphBox(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One call of a module, or one iteration of a detected loop."""

    id: int
    label: str
    """Its path relative to the enclosing box: `0.conv1`; the model's class for the model itself."""
    parent: int | None = None
    path: str | None = None
    """The module's path; "" for the model; None if it is not a module."""
    type: str = ""
    """The module's class; "" if it is not a module."""
    call: int = 0
    """Which call of the module, from 0."""
    calls: int = 1
    """Number of calls of that module in the step."""
    phase: Phase = "forward"
    """backward and optimizer have separate boxes, so that data flows one way between boxes."""
    extra: str = ""
    """The module's arguments: `in_features=784, out_features=10`."""
    site: int | None = None
    """Where the module was constructed."""
    first: int = 0
    """Its nodes, including those of inner boxes: `first .. first + count - 1`."""
    count: int = 0
    boxes: int = 0
    """Number of boxes inside, at any depth: they have the next numbers."""
    outputs: list[int] = []
    """What the call returned: indices into `tensors`."""
    ops: int = 0
    parameters: int = 0
    """Of the module and its descendants."""
    time_us: float | None = None
    flops: int | None = None
    """The sum over the ops with a formula; None if there are none."""
    saved_bytes: int = 0
    nonfinite: bool = False
    """An op inside produced NaN or Inf."""
    repeat: int = 1
    """Number of equal blocks it represents while they are folded; they follow it and refer to it in `fold`."""
    fold: int | None = None
    """The first of the equal blocks, which represents this one while they are folded."""
    open: bool = False
    """Whether it is initially open; a reader sees a few dozen items, not thousands."""
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
    """The complete graph of a step; which boxes are open is the reader's choice."""

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
    """Whether values were recorded, so that "no NaN" is meaningful."""
    unseen: list[str] = []
    """What the recording is known to have missed."""
    error: str | None = None
    """The exception that ended the step."""
    color: Literal["time", "memory", "flops", "dtype", "device", "nonfinite"] | None = None
    """The viewer's initial coloring; None leaves it to the viewer."""
    parameters: bool = False
    """Whether weights are initially nodes."""
