"""The graph under construction: nested boxes without numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.inspect.graph.data import NodeKind
    from stepscope.records.step import ModuleCall, Op, Phase, TensorInfo, TensorRef


class NodeDraft:
    """An op, or a tensor that is itself a node."""

    __slots__ = ("box", "id", "kind", "op", "signature", "tensor")

    def __init__(
        self, box: BoxDraft, kind: NodeKind = "op", op: Op | None = None, tensor: TensorInfo | None = None
    ) -> None:
        self.box = box
        self.kind: NodeKind = kind
        self.op = op
        self.tensor = tensor
        self.id = -1
        self.signature = 0


class BoxDraft:
    """A module call, a loop iteration, or (the outermost) the whole step."""

    __slots__ = (
        "boxes", "call", "count", "depth", "first", "fold", "id", "items", "parent", "path", "phase", "repeat",
        "signature", "tensors",
    )  # fmt: skip

    def __init__(self, parent: BoxDraft | None, phase: Phase, path: str | None, call: ModuleCall | None = None) -> None:
        self.parent = parent
        self.phase: Phase = phase
        self.path = path
        self.call = call
        self.tensors: list[NodeDraft] = []
        """Parameters, buffers and inputs: they precede everything that runs."""
        self.items: list[NodeDraft | BoxDraft] = []
        """What runs, in order."""
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.signature = 0
        self.repeat = 1
        self.fold: BoxDraft | None = None
        self.id = -1
        self.first = self.count = self.boxes = 0


class EdgeDraft:
    __slots__ = ("ref", "source", "target")

    def __init__(self, source: NodeDraft, target: NodeDraft, ref: TensorRef) -> None:
        self.source = source
        self.target = target
        self.ref = ref


def boxes_inside(top: BoxDraft) -> Iterator[BoxDraft]:
    """All boxes inside, outer ones first, in execution order. Iterative, because calls can nest deeply."""
    stack = [item for item in reversed(top.items) if isinstance(item, BoxDraft)]
    while stack:
        box = stack.pop()
        yield box
        stack.extend(item for item in reversed(box.items) if isinstance(item, BoxDraft))


def nodes_inside(top: BoxDraft) -> Iterator[NodeDraft]:
    """All nodes inside, in the order of their numbers: a box's tensors first, then what runs in it."""
    stack: list[NodeDraft | BoxDraft] = [top]
    while stack:
        item = stack.pop()
        if isinstance(item, NodeDraft):
            yield item
        else:
            yield from item.tensors
            stack.extend(reversed(item.items))
