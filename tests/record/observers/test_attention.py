"""Masks of attention, padding and the axis that weights are used along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from stepscope.evidence.attention import Masking
from stepscope.evidence.axis_history import followed
from stepscope.record.observers import Watcher

ONES = torch.ones(5, 5, dtype=torch.bool)


class Attend(nn.Module):
    def __init__(self, attend: Callable[..., Any]) -> None:
        super().__init__()
        self.scale, self.attend = nn.Parameter(torch.ones(())), attend

    def forward(self, x: Any) -> Any:
        return self.attend(x * self.scale)


def masking(attend: Callable[..., Any], x: Any = None) -> Masking:
    watcher = Watcher().start()
    try:
        Attend(attend)(torch.randn(2, 5, 4) if x is None else x)
    finally:
        watcher.stop()
    (found,) = watcher.attention.all
    return found


@pytest.mark.parametrize(
    ("seen", "pattern"),
    [
        (ONES.tril(), "causal"),
        (ONES.triu(), "future"),
        (ONES.triu(1), "future"),
        (ONES.tril(1), "ahead"),
        (ONES, "none"),
        (ONES.tril(1) & ONES.triu(-1), "other"),
    ],
)
def test_masks_are_recognised_by_what_they_hide(seen: Any, pattern: str) -> None:
    fused = masking(lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=seen))
    by_hand = masking(lambda x: (x @ x.transpose(1, 2)).masked_fill(~seen, -1e9).softmax(-1) @ x)
    layer = nn.MultiheadAttention(4, 1, batch_first=True)
    of_torch = masking(lambda x: layer(x, x, x, attn_mask=~seen)[0])
    assert [one.patterns for one in (fused, by_hand, of_torch)] == [[pattern]] * 3


def test_how_far_a_mask_looks_ahead_is_counted() -> None:
    assert masking(lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=ONES.tril(2))).ahead == 2


def test_a_mask_is_set_beside_the_padding_of_the_batch() -> None:
    valid = torch.arange(5) < torch.tensor([[5], [3], [4]])
    x = torch.randn(3, 5, 4) * valid[..., None]

    def pooled(hidden: Any) -> Callable[..., Any]:
        return lambda x: x.sum(-1).masked_fill(hidden, float("-inf")).softmax(-1)

    assert masking(pooled(~valid), x).pads == ["hidden"]
    assert masking(pooled(valid & (torch.arange(3)[:, None] > -1)), x).pads == ["shown"]
    assert masking(pooled(torch.zeros(3, 5, dtype=torch.bool)), x).pads == ["ignored"]


@pytest.mark.parametrize(
    ("use", "axis"),
    [
        (lambda w: w.transpose(0, 2), 1),
        (lambda w: w.permute(2, 0, 1), 2),
        (lambda w: w.reshape(6, 4), None),
        (lambda w: w.view(2, 3, 2, 2), 1),
        (lambda w: w.unsqueeze(0) * 2, 2),
        (lambda w: w.flatten(0, 0), 1),
    ],
)
def test_an_axis_is_followed_back_to_where_it_was_made(use: Callable[..., Any], axis: int | None) -> None:
    """The softmax runs over axis 1 of (2, 3, 4); `axis` is where that is after `use`."""
    watcher = Watcher().start()
    try:
        used = use(torch.randn(2, 3, 4).softmax(1))
        origin = watcher.tensor_history.of(used)
    finally:
        watcher.stop()
    there = [followed(origin, one, lambda past: past.op == "softmax") for one in range(used.dim())]
    assert [place for place, found in enumerate(there) if found is not None and found[1] == 1] == (
        [] if axis is None else [axis]
    )


def test_weights_used_along_another_axis_are_measured() -> None:
    watcher = Watcher().start()
    try:
        Attend(lambda x: (x @ x.transpose(1, 2)).softmax(1) @ x)(torch.randn(2, 5, 4))
        Attend(lambda x: (x @ x.transpose(1, 2)).softmax(2) @ x)(torch.randn(2, 5, 4))
    finally:
        watcher.stop()
    (crossing,) = watcher.contractions.all
    assert (crossing.axis, crossing.used, crossing.how) == (1, 2, "product")
    assert crossing.sums is not None
    assert crossing.sums[0] < 0.99
