"""What a drawing shows: the items visible with some boxes open, and the merged flows between them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from stepscope.inspect.graph.data import GraphBox, GraphData, GraphNode


@dataclass(eq=False, repr=False)
class Item:
    """A node, a closed box, or an open box with items inside. The outermost item is the drawing itself."""

    thing: GraphNode | GraphBox | None
    parent: Item | None
    order: int
    """Its position in execution order."""
    open: bool = False
    children: list[Item] = field(default_factory=list)


@dataclass(eq=False, repr=False)
class Flow:
    """All tensors that flow from one visible item to another."""

    source: Item
    target: Item
    tensors: list[int] = field(default_factory=list)
    backwards: bool = False
    """Against the execution order, as between the boxes of a backward pass; drawn upward."""


@dataclass(eq=False, repr=False)
class Drawing:
    data: GraphData
    root: Item
    items: list[Item]
    """All visible items, outer ones first."""
    flows: list[Flow]


def starting_boxes(data: GraphData) -> set[int]:
    """The boxes that are open by default."""
    return {box.id for box in data.boxes if box.open}


def boxes_to_depth(data: GraphData, depth: int, parameters: bool = False) -> set[int]:
    """All boxes down to a depth: 0 shows the model as one box, 1 its children, and so on."""
    levels: list[int] = []
    for box in data.boxes:
        levels.append(0 if box.parent is None else levels[box.parent] + 1)
    return {box.id for box in data.boxes if levels[box.id] < depth and (box.ops > 1 or box.boxes or parameters)}


def shown(data: GraphData, opened: Collection[int], *, fold: bool = True, parameters: bool = False) -> Drawing:
    """The visible items and the flows between them."""
    return _Shower(data, set(opened), fold, parameters).drawing()


class _Shower:
    def __init__(self, data: GraphData, opened: set[int], fold: bool, parameters: bool) -> None:
        self.data = data
        self.opened = opened
        self.fold = fold
        self.parameters = parameters
        self.stands_for = self._representatives()
        self.root = Item(None, None, -1, open=True)
        self.items: list[Item] = []
        self.box_items: dict[int, Item] = {}
        self.node_items: dict[int, Item] = {}

    def drawing(self) -> Drawing:
        self._place_boxes()
        self._place_nodes()
        for item in (self.root, *self.items):
            item.children.sort(key=lambda child: child.order)
        return Drawing(self.data, self.root, self.items, self._flows())

    def _representatives(self) -> list[int]:
        """The box drawn for each box: itself, or the corresponding one in the first equal block."""
        found: list[int] = []
        for box in self.data.boxes:
            number = box.id
            if box.parent is not None:
                number += found[box.parent] - box.parent
            head = self.data.boxes[number].fold
            found.append(number if head is None or not self.fold else found[head])
        return found

    def _place_boxes(self) -> None:
        for box in self.data.boxes:
            if self.stands_for[box.id] != box.id:
                continue
            parent = self.root if box.parent is None else self.box_items.get(box.parent)
            if parent is None or not parent.open:
                continue
            item = Item(box, parent, box.first, open=box.id in self.opened)
            parent.children.append(item)
            self.box_items[box.id] = item
            self.items.append(item)

    def _place_nodes(self) -> None:
        for node in self.data.nodes:
            if node.kind in ("parameter", "buffer") and not self.parameters:
                continue
            if node.box is not None and self.stands_for[node.box] != node.box:
                continue
            parent = self.root if node.box is None else self.box_items.get(node.box)
            if parent is None or not parent.open:
                continue
            item = self.node_items[node.id] = Item(node, parent, node.id)
            parent.children.append(item)
            self.items.append(item)

    def _item_of(self, node: GraphNode) -> Item | None:
        """What is drawn for a node: its item, or the closed box that contains it."""
        number = node.id
        if node.box is not None:
            number += self.data.boxes[self.stands_for[node.box]].first - self.data.boxes[node.box].first
            box: int | None = self.stands_for[node.box]
            while box is not None and box not in self.box_items:
                box = self.data.boxes[box].parent
            if box is not None and not self.box_items[box].open:
                return None if node.kind in ("parameter", "buffer") else self.box_items[box]
        return self.node_items.get(number)

    def _flows(self) -> list[Flow]:
        flows: dict[tuple[Item, Item], Flow] = {}
        ends = [self._item_of(node) for node in self.data.nodes]
        for edge in self.data.edges:
            source, target = ends[edge.source], ends[edge.target]
            if source is None or target is None or source is target:
                continue
            flow = flows.get((source, target))
            if flow is None:
                backwards = source.order >= target.order
                if backwards and self._is_folded(edge.source, edge.target):
                    continue  # the flow from one iteration to the next: the count on the box shows it
                flow = flows[source, target] = Flow(source, target, backwards=backwards)
            # The inputs of folded blocks are shown once, for the first; the outputs of all of them count.
            if (not flow.tensors or not self._is_folded(edge.target)) and edge.tensor not in flow.tensors:
                flow.tensors.append(edge.tensor)
        return list(flows.values())

    def _is_folded(self, *nodes: int) -> bool:
        boxes = (self.data.nodes[node].box for node in nodes)
        return any(box is not None and self.stands_for[box] != box for box in boxes)
