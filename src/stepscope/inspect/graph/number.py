"""Number boxes and nodes so that a box's contents are a range, and sum up the contents of boxes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepscope.inspect.graph.drafts import BoxDraft, NodeDraft, boxes_inside, nodes_inside
from stepscope.records.step import StepRecord


def number(top: BoxDraft) -> tuple[list[BoxDraft], list[NodeDraft]]:
    """All boxes and nodes in the order of their new numbers."""
    boxes = list(boxes_inside(top))
    nodes = list(nodes_inside(top))
    for place, box in enumerate(boxes):
        box.id, box.first, box.count, box.boxes = place, len(nodes), 0, 0
    for place, node in enumerate(nodes):
        node.id = place
        around: BoxDraft | None = node.box
        while around is not None and around.parent is not None:
            around.first = min(around.first, place)
            around.count += 1
            around = around.parent
    for box in reversed(boxes):
        if box.parent is not None:
            box.parent.boxes += box.boxes + 1
    _unfold_unequal(boxes)
    return boxes, nodes


def _unfold_unequal(boxes: list[BoxDraft]) -> None:
    """Folded blocks must correspond number by number; if one does not (oddly shared parameters), none is folded."""
    odd = {
        box.fold for box in boxes if box.fold is not None and (box.count, box.boxes) != (box.fold.count, box.fold.boxes)
    }
    for box in boxes:
        if box.fold in odd:
            box.fold = None
        if box in odd:
            box.repeat = 1


@dataclass
class Sums:
    """The contents of a box, at any depth."""

    ops: int = 0
    time_us: float | None = None
    flops: int | None = None
    saved_bytes: int = 0
    nonfinite: bool = False


def add_up(boxes: list[BoxDraft], nodes: list[NodeDraft], timed_on_device: bool) -> list[Sums]:
    """The sums of each box, by its number."""
    sums = [Sums() for _ in boxes]
    for node in nodes:
        if node.op is not None and node.box.id >= 0:
            cost = node.op.cost
            into = sums[node.box.id]
            into.ops += 1
            into.time_us = _plus(into.time_us, cost.device_us if timed_on_device else cost.host_us)
            into.flops = _plus(into.flops, cost.flops)
            into.saved_bytes += cost.saved_bytes
            into.nonfinite = into.nonfinite or wrote_nonfinite(node)
    for box in reversed(boxes):
        if box.parent is not None and box.parent.id >= 0:
            inner, outer = sums[box.id], sums[box.parent.id]
            outer.ops += inner.ops
            outer.time_us = _plus(outer.time_us, inner.time_us)
            outer.flops = _plus(outer.flops, inner.flops)
            outer.saved_bytes += inner.saved_bytes
            outer.nonfinite = outer.nonfinite or inner.nonfinite
    return sums


def _plus(a: float | None, b: float | None) -> Any:
    return b if a is None else a if b is None else a + b


def wrote_nonfinite(node: NodeDraft) -> bool:
    stats = () if node.op is None or node.op.output_stats is None else node.op.output_stats
    return any(one is not None and (one.nan or one.pos_inf or one.neg_inf) for one in stats)


def parameters_below(record: StepRecord) -> dict[str, int]:
    """Parameters of each module and its descendants, by path."""
    total: dict[str, int] = {}
    for module in record.modules:
        path = module.path
        while True:
            total[path] = total.get(path, 0) + module.parameters
            if not path:
                break
            path = path.rpartition(".")[0]
    return total
