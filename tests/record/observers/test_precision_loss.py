"""Fractions lost, and constants that are zero in the type they meet."""

from __future__ import annotations

import torch

from stepscope.evidence.precision_loss import Truncation
from stepscope.record.observers import Watcher


def test_measures_what_a_cast_throws_away() -> None:
    watcher = Watcher().start()
    whole = torch.tensor([0.5, 1.5, 2.5, 3.5]).long()
    torch.tensor([1.0, 2.0]).long()
    watcher.stop()
    (origin,) = watcher.precision_loss.cuts
    assert isinstance(origin.spot, Truncation)
    assert (origin.spot.kind, origin.spot.lost, origin.spot.kinds) == ("cast", 0.5, 4)
    assert whole.tolist() == [0, 1, 2, 3]


def test_sees_a_floor_division_that_gives_nothing_but_zeros() -> None:
    watcher = Watcher().start()
    torch.tensor([1, 2, 3]) // 10
    torch.tensor([1, 20, 3]) // 10
    watcher.stop()
    assert [origin.spot.kind for origin in watcher.precision_loss.cuts if isinstance(origin.spot, Truncation)] == [
        "floor"
    ]


def test_an_epsilon_is_lost_only_where_the_type_cannot_hold_it() -> None:
    watcher = Watcher().start()
    half = torch.ones(2).half()
    _ = half + 1e-8
    _ = half + 1e-4
    _ = torch.ones(2) + 1e-8
    _ = half.clamp(min=1e-9)
    watcher.stop()
    assert [(lost.op, lost.eps) for lost in watcher.precision_loss.lost_eps] == [("add", 1e-8), ("clamp", 1e-9)]
