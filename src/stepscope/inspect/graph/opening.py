"""Which boxes are initially open: whole levels, as long as the visible items are readable."""

from __future__ import annotations

from stepscope.inspect.graph.drafts import BoxDraft

MOST_VISIBLE = 45
_FEW_OPS = 4


def opened(top: BoxDraft, boxes: list[BoxDraft], most: int = MOST_VISIBLE) -> set[int]:
    """The numbers of the boxes that start open. The outermost always do; small ones without inner boxes never do."""
    found: set[int] = set()
    level = _shown_boxes(top)
    visible = _content(top)
    outermost = True
    while level:
        level = [inner for box in level for inner in _worth_opening(box, 2 if outermost else _FEW_OPS)]
        visible += sum(_content(box) for box in level)
        if visible > most and not outermost:
            break
        found.update(box.id for box in level)
        level = [inner for box in level for inner in _shown_boxes(box) if inner.id not in found]
        outermost = False
    for box in boxes:  # a folded block opens like its first block; outer folds come first
        if box.fold is not None:
            shift = box.id - box.fold.id
            blocks = found & set(range(box.fold.id, box.fold.id + box.boxes + 1))
            found.update(inner + shift for inner in blocks)
    return found


def _worth_opening(box: BoxDraft, few: int) -> list[BoxDraft]:
    """The box, with the one inside it if that is all it has; nothing if there is little to see."""
    chain = [box]
    while len(chain[-1].items) == 1 and (inner := _shown_boxes(chain[-1])):
        chain += inner
    last = chain[-1]
    return chain if last.boxes or len(last.items) >= few or last.path is None else []


def _shown_boxes(box: BoxDraft) -> list[BoxDraft]:
    return [item for item in box.items if isinstance(item, BoxDraft) and item.fold is None]


def _content(box: BoxDraft) -> int:
    """Number of visible items when the box opens, folded ones counted once."""
    return sum(1 for item in box.items if not isinstance(item, BoxDraft) or item.fold is None)
