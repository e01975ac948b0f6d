"""Losses taken apart: their terms, the signs of these, and what a tensor really is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from stepscope.diagnose.loss_sign import divergences, is_positive, pulls, scaled_source
from stepscope.diagnose.loss_terms import Term, reduces_all, source, terms
from stepscope.evidence.origins import Origin
from stepscope.record.observers import Watcher

P, Q = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([0.5, 3.0], requires_grad=True)
Y = torch.tensor([1.0, 1.0])


def origin_of(make: Callable[[], Any]) -> Origin:
    watcher = Watcher().start()
    try:
        made = make()
        return watcher.tensor_history.of(made)
    finally:
        watcher.stop()


def shown(found: list[Term]) -> list[tuple[str, float]]:
    return [(term.origin.op, round(term.factor, 6)) for term in found]


def test_a_sum_is_taken_apart_with_signs_and_factors() -> None:
    loss = origin_of(lambda: P.mean() - 0.5 * Q.sum() + 2 * (1 - P.exp().sum()) / 4)
    assert sorted(shown(list(terms(loss)))) == [("mean", 1.0), ("sum", -0.5), ("sum", -0.5)]


def test_a_list_of_losses_is_a_sum_too() -> None:
    loss = origin_of(lambda: torch.stack([P.mean(), -Q.sum()]).sum())
    assert shown(list(terms(loss))) == [("mean", 1.0), ("sum", -1.0)]


def test_the_inside_of_a_mean_only_when_asked() -> None:
    loss = origin_of(lambda: (P.exp() - Q).mean())
    assert shown(list(terms(loss))) == [("mean", 1.0)]
    assert shown(list(terms(loss, inside_reductions=True))) == [("exp", 1.0), ("", -1.0)]


def test_a_term_knows_its_value_in_the_sum() -> None:
    loss = origin_of(lambda: P.sum() - 0.5 * Q.sum())
    assert [term.value for term in terms(loss)] == [3.0, -1.75]


def test_what_was_computed_behind_views_and_casts() -> None:
    made = origin_of(lambda: torch.softmax(P, 0).view(1, 2).double().squeeze(0)[:1])
    assert source(made).op == "softmax"
    assert [reduces_all(origin_of(lambda: P.sum())), reduces_all(origin_of(lambda: P[None].sum(1)))] == [True, False]


def test_a_multiple_is_told_from_what_it_is_a_multiple_of() -> None:
    base, factor = scaled_source(origin_of(lambda: -P * 0.5 / 2))
    assert (base.kind, factor) == ("parameter", -0.25)


@pytest.mark.parametrize(
    ("make", "factors"),
    [
        (lambda: -0.5 * (1 + Q - P**2 - Q.exp()).sum(), [0.5]),
        (lambda: 0.5 * (1 + Q - P.pow(2) - Q.exp()).mean(), [-0.5]),
        (lambda: (0.5 * (P**2 + (2 * Q).exp()) - Q - 0.5).sum(), [0.5]),
        (lambda: P.sum() - (0.5 * (P.square() + Q.exp() ** 2) - Q).sum(), [-0.5]),
        (lambda: (Q.exp() - P * Q).sum(), []),
    ],
)
def test_a_divergence_is_found_with_its_sign(make: Callable[[], Any], factors: list[float]) -> None:
    assert [one.factor for one in divergences(origin_of(make))] == factors


@pytest.mark.parametrize(
    ("make", "signs"),
    [
        (lambda: F.relu(P - Y).sum() + (P - Y).pow(2).mean(), [{1}]),
        (lambda: -((P - Y) ** 2 / (2 * Q.exp())).mean(), [{-1}]),
        (lambda: torch.logsumexp(-(P - Y).pow(2), 0), [{-1}]),
        (lambda: torch.distributions.Normal(P, 1.0).log_prob(Y).sum(), [{-1}]),
        (lambda: (P - Q).pow(2).mean(), []),
    ],
)
def test_an_error_pulls_up_or_down(make: Callable[[], Any], signs: list[set[int]]) -> None:
    assert [found for _, found in pulls(origin_of(make)).values()] == signs


def test_what_cannot_be_negative() -> None:
    makes = [lambda: 2 * P.exp() + 1, lambda: P**2, lambda: P**3, lambda: -P.exp(), lambda: F.softplus(P) / Q.square()]
    assert [is_positive(origin_of(make)) for make in makes] == [True, True, False, False, True]
