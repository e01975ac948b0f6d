"""Calls of loss functions: what they compare, and what their numbers look like."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from stepscope.record.observers import Watcher


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    watcher = Watcher().start()
    yield watcher
    watcher.stop()


SCORES = torch.tensor([[2.0, 0.0], [1.0, 3.0], [0.0, 0.0]], requires_grad=True)
KINDS = torch.tensor([0, 1, 1])


def test_a_loss_module_and_its_function_look_the_same(watcher: Watcher) -> None:
    nn.CrossEntropyLoss(ignore_index=1, weight=torch.tensor([1.0, 2.0]))(SCORES, KINDS)
    F.cross_entropy(SCORES, KINDS, torch.tensor([1.0, 2.0]), ignore_index=1)
    first, second = watcher.losses.calls
    for call in (first, second):
        assert (call.name, call.reduction, call.ignore_index, call.weight) == ("cross_entropy", "mean", 1, [1.0, 2.0])
        assert (call.counts, call.shapes["input"], call.trains) == ({0: 1, 1: 2}, (3, 2), True)
    assert first.value == second.value
    assert second.place.site.text.startswith("F.cross_entropy(SCORES")


def test_rows_of_probabilities_are_recognized(watcher: Watcher) -> None:
    F.nll_loss(SCORES, KINDS)
    F.nll_loss(SCORES.softmax(1), KINDS)
    F.nll_loss(SCORES.log_softmax(1), KINDS)
    looks = [call.look for call in watcher.losses.calls]
    assert [look.rows_are_probabilities for look in looks] == [False, True, False]


def test_the_target_of_a_binary_loss_is_counted(watcher: Watcher) -> None:
    target = torch.tensor([[0.0, 1.0], [0.0, 0.0], [0.0, 1.0]])
    F.binary_cross_entropy_with_logits(SCORES, target, pos_weight=torch.tensor([3.0]))
    (call,) = watcher.losses.calls
    assert (call.counts, call.pos_weight) == ({0: 4, 1: 2}, [3.0])


def test_values_are_looked_at_only_the_first_times(watcher: Watcher) -> None:
    for _ in range(60):
        F.mse_loss(SCORES, torch.zeros(3, 2))
    looks = [call.look is not None for call in watcher.losses.calls]
    assert (sum(looks), looks[:6]) == (6, [True] * 6)
    assert sum(call.value is not None for call in watcher.losses.calls) == 40


def test_other_arguments_have_their_own_names(watcher: Watcher) -> None:
    nn.TripletMarginLoss(margin=0.5)(SCORES, SCORES + 1, SCORES - 1)
    nn.CTCLoss()(torch.randn(6, 1, 4).log_softmax(2), torch.tensor([[1, 2]]), torch.tensor([6]), torch.tensor([2]))
    triplet, ctc = watcher.losses.calls
    assert (set(triplet.origins), triplet.arguments["margin"]) == ({"anchor", "positive", "negative"}, 0.5)
    assert {"input", "target"} <= set(ctc.origins)


def test_inside_vmap_no_value_is_read(watcher: Watcher, capfd: pytest.CaptureFixture[str]) -> None:
    each = torch.func.vmap(lambda scores, kind: F.cross_entropy(scores[None], kind[None]))(SCORES, KINDS)
    (call,) = watcher.losses.calls
    assert (each.shape, call.counts, call.look) == (KINDS.shape, None, None)
    assert "skipped" not in capfd.readouterr().err
