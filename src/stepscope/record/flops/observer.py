"""Writes FLOPs and MACs into the ops while they are recorded; backward nodes get their share of their op's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stepscope.record.flops.registry import Called, Work, work_of
from stepscope.record.observer import Observer, OpCall

if TYPE_CHECKING:
    from stepscope.record.drafts import Drafts, OpDraft

__all__ = ["FlopsObserver"]

# Where the arithmetic of a composite op's backward happens; the nodes around it only move data.
_PRODUCTS = re.compile(r"[mM]m\w*Backward|Conv|Linear|Attention|Rnn|RNN|Lstm|Gru|Cell|Dot|Mv|Bilinear")
_MOVES = re.compile(
    r"View|Reshape|^T|Permute|Expand|Squeeze|Slice|Select|Alias|Split|Unbind|Cat|Stack|Clone|Copy|Detach|Unfold|Index"
)


class FlopsObserver(Observer):
    """Counts the arithmetic of each op from its arguments' shapes; reads no values."""

    def __init__(self) -> None:
        self._ops: list[OpDraft] = []
        self._work: dict[OpDraft, tuple[int | None, int, str]] = {}
        self._gradients: dict[OpDraft, int] = {}

    def start(self, drafts: Drafts) -> None:
        self._ops = drafts.ops

    def after(self, call: OpCall) -> None:
        draft = call.draft
        if not call.outputs and draft.name != "backward":
            draft.flops, draft.macs = 0, 0  # a question about values: nothing is computed
            return
        work = work_of(Called(draft.name, call.args, call.kwargs, call.outputs))
        if work is None:
            return
        draft.flops, draft.macs = work.flops, work.macs
        if draft.backward:
            self._work[draft] = self._shared(work, draft.backward)

    def _shared(self, work: Work, nodes: Sequence[str]) -> tuple[int | None, int, str]:
        """What each of the nodes that do the work does, its MACs, and by which pattern they are known."""
        if work.backward is None:
            return None, 0, ""
        heavy = [name for name in nodes if _PRODUCTS.search(name)] if work.macs else []
        pattern = _PRODUCTS.pattern
        if not heavy:
            heavy = [name for name in nodes if not _MOVES.search(name)][:1] or list(nodes[:1])
            pattern = f"^{re.escape(heavy[0])}$"
        flops = work.backward // len(heavy)
        return flops, flops // 2 if work.macs else 0, pattern

    def backward_before(self, draft: OpDraft, gradients: Sequence[Any]) -> None:
        self._sums(draft, gradients)
        if draft.forward is None:
            if draft.name == "AccumulateGrad":
                self._gradients[draft] = sum(int(g.numel()) for g in gradients if g is not None)
            return
        share = self._work.get(draft.forward)
        if share is None or share[0] is None:
            return
        works = re.search(share[2], draft.name) is not None
        draft.flops, draft.macs = (share[0], share[1]) if works else (0, 0)

    def _sums(self, draft: OpDraft, gradients: Sequence[Any]) -> None:
        """The engine's own sums of gradients, recorded just before the node they arrive at."""
        sizes = {
            ref: int(g.numel()) for ref, g in zip(draft.inputs, (g for g in gradients if g is not None), strict=False)
        }
        place = draft.index - 1
        while place >= 0 and self._ops[place].name == "accumulate":
            total = self._ops[place]
            if total.outputs and total.outputs[0] in sizes:
                total.flops, total.macs = sizes[total.outputs[0]] * (len(total.inputs) - 1), 0
            place -= 1

    def finish(self, drafts: Drafts) -> None:
        for draft, numel in self._gradients.items():
            added = any(
                version > 0 for _, version in draft.outputs
            )  # to a gradient that was there; else it is taken over
            draft.flops, draft.macs = (numel if added else 0), 0
        self._work.clear()
        self._gradients.clear()
