"""Find repeated blocks: equal consecutive modules, and loop iterations, so that twelve layers are drawn once.

Two blocks are equal if their modules have the same structure, the same ops ran inside with the same shapes, and they
have the same edges. They are folded if each reads the output of the one before, or if they are numbered (`experts.0`,
`experts.1` ...): three parallel projections are equal too, but have different names.
"""

from __future__ import annotations

import re
from collections.abc import Hashable

from stepscope.inspect.graph.drafts import BoxDraft, EdgeDraft, NodeDraft, boxes_inside, nodes_inside
from stepscope.records.step import StepRecord

_LONGEST_TURN = 40
_NUMBER = re.compile(r"\d+")


def fold_repeats(top: BoxDraft, edges: list[EdgeDraft], record: StepRecord) -> None:
    """Mark repeated blocks (`repeat` on the first, `fold` on the others); loop iterations get boxes."""
    boxes = [top, *boxes_inside(top)]
    inner, needs = _inner_edges(top, edges)
    _sign(boxes, inner, record)
    for box in boxes:
        _fold_inside(box, needs)


def _inner_edges(
    top: BoxDraft, edges: list[EdgeDraft]
) -> tuple[dict[BoxDraft, list[tuple[int, int]]], dict[object, set[object]]]:
    """The edges by the innermost box that contains both ends, and the dependencies between items of that box."""
    first: dict[BoxDraft, int] = {}
    place: dict[NodeDraft, int] = {}
    for number, node in enumerate(nodes_inside(top)):
        place[node] = number
        box: BoxDraft | None = node.box
        while box is not None and box not in first:
            first[box] = number
            box = box.parent
    inner: dict[BoxDraft, list[tuple[int, int]]] = {}
    needs: dict[object, set[object]] = {}
    for edge in edges:
        a: NodeDraft | BoxDraft = edge.source
        b: NodeDraft | BoxDraft = edge.target
        around_a, around_b = edge.source.box, edge.target.box
        while around_a is not around_b:
            if around_a.depth >= around_b.depth and around_a.parent is not None:
                a, around_a = around_a, around_a.parent
            elif around_b.parent is not None:
                b, around_b = around_b, around_b.parent
        start = first.get(around_a, 0)
        inner.setdefault(around_a, []).append((place[edge.source] - start, place[edge.target] - start))
        needs.setdefault(b, set()).add(a)
    return inner, needs


def _sign(boxes: list[BoxDraft], inner: dict[BoxDraft, list[tuple[int, int]]], record: StepRecord) -> None:
    """Number everything so that exactly equal things have equal numbers."""
    known: dict[Hashable, int] = {}
    shapes = {tensor.id: (tensor.shape, tensor.dtype) for tensor in record.tensors}
    structure = {module.path: module.structure or module.type for module in record.modules}

    def sign(thing: Hashable) -> int:
        return known.setdefault(thing, len(known))

    def sign_node(node: NodeDraft) -> int:
        if node.op is None:
            return sign((node.kind, None if node.tensor is None else shapes.get(node.tensor.id)))
        op = node.op
        return sign((op.name, op.phase, len(op.inputs), tuple(shapes.get(ref.id) for ref in op.outputs)))

    for box in reversed(boxes):
        for node in (*box.tensors, *box.items):
            if isinstance(node, NodeDraft):
                node.signature = sign_node(node)
        inside = tuple(item.signature for item in (*box.tensors, *box.items))
        about = structure.get(box.path or "", "") if box.path is not None else None
        box.signature = sign(("box", about, inside, tuple(inner.get(box, ()))))


def _fold_inside(box: BoxDraft, needs: dict[object, set[object]]) -> None:
    items = box.items
    if len(items) < 2:
        return
    place = {item: number for number, item in enumerate(items)}
    reach = [
        sorted(here - place[other] for other in needs.get(item, ()) if other in place)
        for here, item in enumerate(items)
    ]
    result: list[NodeDraft | BoxDraft] = []
    at = 0
    while at < len(items):
        turn, times = _longest_run(items, reach, at)
        if times < 2:
            result.append(items[at])
            at += 1
            continue
        blocks = [_block(box, items[at + k * turn : at + (k + 1) * turn]) for k in range(times)]
        blocks[0].repeat = times
        for other in blocks[1:]:
            other.fold = blocks[0]
        result.extend(blocks)
        at += turn * times
    box.items = result


def _block(parent: BoxDraft, items: list[NodeDraft | BoxDraft]) -> BoxDraft:
    """The items as one box: the box itself if it is a single one, else a new box around them."""
    if len(items) == 1 and isinstance(items[0], BoxDraft):
        return items[0]
    box = BoxDraft(parent, parent.phase, None)
    box.items = items
    for item in items:
        if isinstance(item, BoxDraft):
            item.parent = box
        else:
            item.box = box
    return box


def _longest_run(items: list[NodeDraft | BoxDraft], reach: list[list[int]], at: int) -> tuple[int, int]:
    """(period, number of repetitions) of the longest repetition from here."""
    best = (1, 1)
    signature = items[at].signature
    for turn in range(1, min(_LONGEST_TURN, (len(items) - at) // 2) + 1):
        if items[at + turn].signature != signature:
            continue
        times = _times(items, reach, at, turn)
        if times * turn > best[0] * best[1] and _worth_folding(items, reach, at, turn, times):
            best = (turn, times)
    return best


def _times(items: list[NodeDraft | BoxDraft], reach: list[list[int]], at: int, turn: int) -> int:
    times = 1
    while at + (times + 1) * turn <= len(items):
        start = at + times * turn
        for offset in range(turn):
            one, other = at + offset, start + offset
            if items[one].signature != items[other].signature:
                return times
            if [d for d in reach[one] if d <= offset] != [d for d in reach[other] if d <= offset]:
                return times
        times += 1
    return times


def _worth_folding(items: list[NodeDraft | BoxDraft], reach: list[list[int]], at: int, turn: int, times: int) -> bool:
    boxes = [item for item in items[at : at + turn] if isinstance(item, BoxDraft)]
    is_chain = all(_reads_previous(reach, at + k * turn, turn) for k in range(1, times))
    if not boxes:
        return is_chain and times >= 4 and times * turn >= 12
    if is_chain:
        least = 3 if all(map(_is_small, boxes)) else 2  # two small layers in a row are easier to read than a fold
        return times >= least
    paths = {_NUMBER.sub("#", item.path or "") for item in items[at : at + turn * times] if isinstance(item, BoxDraft)}
    return times >= 3 and len(paths) == len(boxes) and all("#" in path for path in paths)


def _reads_previous(reach: list[list[int]], start: int, turn: int) -> bool:
    """Whether an item of this repetition reads one of the repetition before it."""
    steps = ((offset, distance) for offset in range(turn) for distance in reach[start + offset])
    return any(offset < distance <= offset + turn for offset, distance in steps)


def _is_small(box: BoxDraft) -> bool:
    return len(box.items) < 3 and not any(isinstance(item, BoxDraft) for item in box.items)
