"""The labels of a drawing, and their size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stepscope.common.units import bytes_text, micros_text
from stepscope.inspect.figures import count, shape
from stepscope.inspect.graph.data import GraphBox, GraphData, GraphNode, GraphTensor
from stepscope.plain_text import clean

TITLE = 12.0
DETAIL = 10.5
_LONGEST = 44

# Character widths relative to the font size, wide enough for the usual sans-serif fonts.
_NARROW = frozenset("ijl.,:;'|!I ")
_SLIM = frozenset('ftr()[]{}-/\\*"')
_WIDE = frozenset("mwMW@%…")


def text_width(text: str, size: float, bold: bool = False) -> float:
    """The approximate width of a line of text in a sans-serif font."""
    total = 0.0
    for char in text:
        if char in _NARROW:
            total += 0.3
        elif char in _SLIM:
            total += 0.4
        elif char in _WIDE or ord(char) > 0x2E80:
            total += 1.0 if ord(char) > 0x2E80 else 0.9
        elif char.isupper():
            total += 0.69
        else:
            total += 0.575
    return total * size * (1.06 if bold else 1.0)


def short(text: str, most: int = _LONGEST) -> str:
    """Text that fits on a drawing: one line, shortened in the middle if it is long."""
    text = clean(text)
    return text if len(text) <= most else f"{text[: most * 2 // 3]}…{text[-most // 4 :]}"


@dataclass(frozen=True)
class Label:
    title: str
    kind: str = ""
    """The module's class, shown after its name."""
    detail: str = ""
    """The second line."""
    badge: str = ""
    """×12 on a folded block."""

    def title_width(self) -> float:
        width = text_width(self.title, TITLE, bold=True)
        if self.kind:
            width += 6 + text_width(self.kind, TITLE)
        if self.badge:
            width += 8 + text_width(self.badge, DETAIL, bold=True) + 10
        return width


class Labels:
    """The labels and tooltips of one graph's items."""

    def __init__(self, data: GraphData) -> None:
        self.data = data

    def of(self, thing: GraphNode | GraphBox) -> Label:
        if isinstance(thing, GraphBox):
            title = thing.label if thing.calls == 1 or thing.repeat > 1 else f"{thing.label} (call {thing.call + 1})"
            detail = [self._shapes(thing.outputs)] if thing.outputs else []
            if thing.parameters:
                detail.append(f"{count(thing.parameters)} params")
            kind = "" if thing.type == thing.label else short(thing.type)
            badge = f"×{thing.repeat}" if thing.repeat > 1 else ""
            return Label(short(title), kind, " · ".join(detail), badge)
        detail_text = self._shapes(thing.outputs)
        if thing.kind in ("input", "output") and thing.outputs:
            detail_text += f" · {short(self.data.tensors[thing.outputs[0]].dtype)}"
        return Label(short(thing.name), detail=detail_text)

    def _shapes(self, tensors: Sequence[int]) -> str:
        if not tensors:
            return ""
        first = shape(self.data.tensors[tensors[0]].shape)
        return first if len(tensors) == 1 else f"{first} and {len(tensors) - 1} more"

    def flow(self, tensors: Sequence[int], made: Sequence[int]) -> str:
        """The label of a flow: nothing if its source item already shows it."""
        if len(tensors) > 1:
            same = {tuple(self.data.tensors[one].shape) for one in tensors}
            return f"{len(tensors)} × {shape(same.pop())}" if len(same) == 1 else f"{len(tensors)} tensors"
        own = self.data.tensors[tensors[0]].shape
        return shape(own) if len(made) > 1 and own != self.data.tensors[made[0]].shape else ""

    def flow_tip(self, tensors: Sequence[int]) -> str:
        lines = [_describe(self.data.tensors[one]) for one in tensors[:12]]
        return "\n".join([*lines, f"and {len(tensors) - 12} more"] if len(tensors) > 12 else lines)

    def tip(self, thing: GraphNode | GraphBox) -> str:
        """Everything known about an item, for its tooltip."""
        return "\n".join(self._box_tip(thing) if isinstance(thing, GraphBox) else self._node_tip(thing))

    def _node_tip(self, node: GraphNode) -> Iterator[str]:
        yield f"{clean(node.name)} {clean(node.args)}".strip()
        if node.box is not None and self.data.boxes[node.box].path:
            yield f"in {clean(self.data.boxes[node.box].path or '')}"
        for one in node.outputs[:4]:
            yield f"→ {_describe(self.data.tensors[one])}"
        marks = [word for word, is_so in (("in place", node.inplace), ("view", node.view)) if is_so]
        if marks:
            yield ", ".join(marks)
        yield from self._cost(node)
        yield from self._place(node.site)
        if node.error:
            yield clean(node.error)

    def _box_tip(self, box: GraphBox) -> Iterator[str]:
        yield f"{clean(box.path or box.label)} {clean(box.type)}({clean(box.extra)})" if box.type else clean(box.label)
        if box.repeat > 1:
            yield f"{box.repeat} equal blocks in a row; the figures are for the first"
        yield f"{box.ops} ops, {count(box.parameters)} parameters"
        for one in box.outputs[:4]:
            yield f"→ {_describe(self.data.tensors[one])}"
        yield from self._cost(box)
        yield from self._place(box.site)
        if box.error:
            yield clean(box.error)

    def _cost(self, thing: GraphNode | GraphBox) -> Iterator[str]:
        parts = []
        if thing.time_us is not None:
            parts.append(micros_text(thing.time_us))
        if thing.flops is not None:
            parts.append(f"{count(thing.flops)} FLOPs")
        if thing.saved_bytes:
            parts.append(f"{bytes_text(thing.saved_bytes)} saved for backward")
        if parts:
            yield ", ".join(parts)
        if thing.nonfinite:
            yield "wrote NaN or Inf"

    def _place(self, site: int | None) -> Iterator[str]:
        if site is not None:
            where = self.data.sites[site]
            yield f"{clean(where.file)}:{where.line} {clean(where.text)}".strip()


def _describe(tensor: GraphTensor) -> str:
    name = f"{clean(tensor.name)}: " if tensor.name else ""
    return f"{name}{shape(tensor.shape)} {clean(tensor.dtype)} {clean(tensor.device)}"
