"""Writes FLOPs and MACs into the ops; backward nodes get their share of their op's."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stepscope import fence
from stepscope.record.flops.registry import Called, Work, work_of
from stepscope.record.flops.stand_ins import arguments_of
from stepscope.record.op_observer import Observer

if TYPE_CHECKING:
    from stepscope.record.identity import Entry
    from stepscope.record.step_builder import Drafts, OpDraft

# Where the arithmetic of a composite op's backward happens; the nodes around it only move data.
_PRODUCTS = re.compile(r"[mM]m\w*Backward|Conv|Linear|Attention|Rnn|RNN|Lstm|Gru|Cell|Dot|Mv|Bilinear")
_MOVES = re.compile(
    r"View|Reshape|^T|Permute|Expand|Squeeze|Slice|Select|Alias|Split|Unbind|Cat|Stack|Clone|Copy|Detach|Unfold|Index"
)

Share = tuple[int | None, int, str]


class FlopsObserver(Observer):
    """Counts the arithmetic of each op from the shapes it was given; reads no values, and nothing while it runs."""

    def build(self, drafts: Drafts) -> None:
        entries = drafts.tensors.all
        work: dict[OpDraft, Share] = {}
        for draft in drafts.ops:
            if draft.is_node:
                self._node(draft, entries, work)
            elif draft.error is None:
                self._op(draft, entries, work)

    def _op(self, draft: OpDraft, entries: list[Entry], shares: dict[OpDraft, Share]) -> None:
        if not draft.outputs and draft.name != "backward":
            draft.flops, draft.macs = 0, 0  # a question about values: nothing is computed
            return
        args, kwargs, outputs = arguments_of(draft, entries)
        try:
            work = work_of(Called(draft.name, args, kwargs, outputs))
        except Exception as fault:  # a formula that its arguments do not fit
            fence.report("counting FLOPs", fault)
            return
        if work is None:
            return
        draft.flops, draft.macs = work.flops, work.macs
        if draft.backward:
            shares[draft] = _shared(work, draft.backward)

    def _node(self, draft: OpDraft, entries: list[Entry], shares: dict[OpDraft, Share]) -> None:
        sizes = [math.prod(entries[number].shape) for number, _ in draft.inputs]
        if draft.name == "accumulate":  # the engine's own sum
            draft.flops, draft.macs = sizes[0] * (len(sizes) - 1) if sizes else 0, 0
        elif draft.name == "AccumulateGrad":
            # To a gradient that was there; else it is taken over.
            added = any(version > 0 for _, version in draft.outputs)
            draft.flops, draft.macs = sum(sizes) if added else 0, 0
        elif draft.forward is not None:
            share = shares.get(draft.forward)
            if share is not None and share[0] is not None:
                works = re.search(share[2], draft.name) is not None
                draft.flops, draft.macs = (share[0], share[1]) if works else (0, 0)


def _shared(work: Work, nodes: Sequence[str]) -> Share:
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
