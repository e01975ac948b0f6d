"""The order in which rows of data reach a model, and their targets the loss: which random draws have put them there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.common.ops import CASTS, VIEWS

if TYPE_CHECKING:
    from stepscope.evidence.losses import LossCall
    from stepscope.evidence.origins import Origin

_PICKS = frozenset({"getitem", "index_select"})
_LONGEST = 40


def shuffled_without_targets(call: LossCall) -> Origin | None:
    """The pick that put all rows of the data into a random order, where their targets stay in the old one."""
    target, given = call.target, _given(call)
    if target is None or given is None or target.requires_grad or not target.shape:
        return None
    picks, rows = _way(given)
    others, labels = _way(target)
    mixed = next((pick for pick in picks if _is_whole_order(pick)), None)
    if mixed is None or any(map(_is_drawn, others)) or len(labels.shape) == 0:
        return None
    return mixed if labels.shape[0] == rows.shape[0] > given.shape[0] else None


def _given(call: LossCall) -> Origin | None:
    """The data of the model whose result the loss compares."""
    origins = call.input.ancestors(400) if call.input is not None else ()
    visit = next((one.visit.root for one in origins if one.visit is not None and one.visit.root.inputs), None)
    return None if visit is None else visit.inputs[0]


def _way(origin: Origin) -> tuple[list[Origin], Origin]:
    """The picks of rows between a tensor and what it was taken from, and that."""
    picks = []
    for _ in range(_LONGEST):
        if origin.op not in VIEWS | CASTS or not origin.inputs:
            break
        if origin.op in _PICKS and len(origin.inputs) > 1:
            picks.append(origin)
        origin = origin.inputs[0]
    return picks, origin


def _is_drawn(pick: Origin) -> bool:
    return pick.inputs[-1].back_through(VIEWS).op == "randperm"


def _is_whole_order(pick: Origin) -> bool:
    """`x[torch.randperm(len(x))]`: as many rows as before."""
    return _is_drawn(pick) and pick.shape[:1] == pick.inputs[0].shape[:1]
