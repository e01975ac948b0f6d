"""The terms of a loss that is a sum have names from the source, whatever way the sum is written."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from stepscope import events
from stepscope.launch.parts.loss_terms import _Followed
from stepscope.launch.sum_terms import terms_of

Loss = Callable[[Any, Any], Any]


@pytest.fixture
def terms() -> Callable[[Loss], dict[str, float]]:
    def run(make: Loss) -> dict[str, float]:
        followed = _Followed(torch)
        out = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        leave = events.follow(followed)
        try:
            loss = make(out, torch.zeros(3))
        finally:
            leave()
        return {name: round(value.item(), 4) for name, value in terms_of(followed.made(loss)).items()}

    return run


def test_losses_that_the_model_returns_have_its_names() -> None:
    followed = _Followed(torch)
    out = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    losses = {"loss_box": out.sum(), "loss_class": out.mean()}
    followed.returned(losses)
    leave = events.follow(followed)
    try:
        plain = sum(losses.values())
        weights = {"loss_box": 2.0, "loss_class": 0.5}
        weighted = sum(losses[name] * weights[name] for name in losses)
    finally:
        leave()
    for loss in (plain, weighted):
        found = {name: value.item() for name, value in terms_of(followed.made(loss)).items()}
        assert found == {"loss_box": 6.0, "loss_class": 2.0}


def weighted(out: Any, target: Any) -> Any:
    recon = F.mse_loss(out, target)
    kld = out.sum()
    beta = 0.5
    return recon + beta * kld


def weighted_by_settings(out: Any, target: Any) -> Any:
    args = SimpleNamespace(vf_coef=0.5, ent_coef=0.01)
    pg_loss, v_loss, entropy = out.mean(), F.mse_loss(out, target), out.sum()
    return pg_loss - args.ent_coef * entropy + v_loss * args.vf_coef


def by_and_by(out: Any, target: Any) -> Any:
    loss = F.mse_loss(out, target)
    penalty = out.sum()
    loss = loss + 0.1 * penalty
    entropy = out.abs().mean()
    return (loss - entropy * 0.01) / 4


def in_place(out: Any, target: Any) -> Any:
    loss = F.l1_loss(out, target)
    regularization = out.pow(2).sum()
    loss += regularization
    return loss


def a_product_with_a_name(out: Any, target: Any) -> Any:
    BCE = F.mse_loss(out, target)
    KLD = -0.5 * out.sum()
    return BCE + KLD


def not_a_sum(out: Any, target: Any) -> Any:
    return F.mse_loss(out, target)


def without_names(out: Any, target: Any) -> Any:
    return sum(one.sum() for one in (out, out * 2))


def stacked(out: Any, target: Any) -> Any:
    recon, kld = F.mse_loss(out, target), out.sum()
    return torch.stack([recon, kld]).sum()


def stacked_with_weights(out: Any, target: Any) -> Any:
    losses = [F.mse_loss(out, target)]
    losses.append(F.l1_loss(out, target))
    return (torch.tensor([1.0, 0.5]) * torch.stack(losses)).mean()


def sum_of_a_list(out: Any, target: Any) -> Any:
    recon = F.mse_loss(out, target)
    penalty = 2 * out.sum()
    return sum([recon, penalty])


def from_zero(out: Any, target: Any) -> Any:
    loss = 0
    dice = out.mean()
    loss += dice
    loss += F.mse_loss(out, target)
    return loss


def total_from_zero(out: Any, target: Any) -> Any:
    total: Any = 0.0
    recon = F.mse_loss(out, target)
    total += recon
    total += 2 * out.mean()
    return total


def begun_under_another_name(out: Any, target: Any) -> Any:
    recon = F.mse_loss(out, target)
    kld = out.sum()
    total = recon
    total += kld
    return total


def kept_in_a_dictionary(out: Any, target: Any) -> Any:
    losses = {"recon": F.mse_loss(out, target)}
    losses["kld"] = out.sum()
    return sum(losses.values())


def kl(out: Any) -> Any:
    value = out.sum()
    value = -0.5 * value
    return value  # noqa: RET504


def both(out: Any, target: Any) -> Any:
    bce = F.mse_loss(out, target)
    return bce, kl(out)


def by_functions(out: Any, target: Any) -> Any:
    total: Any = 0
    for one in (F.mse_loss(out, target), kl(out)):
        total = total + one
    return total


def unpacked(out: Any, target: Any) -> Any:
    recon_loss, kld_loss = both(out, target)
    losses = [recon_loss, kld_loss]
    return sum(losses)


class DiceLoss(torch.nn.Module):
    def forward(self, out: Any) -> Any:
        return 1 - out.mean()


def by_modules(out: Any, target: Any) -> Any:
    return sum([torch.nn.MSELoss()(out, target), DiceLoss()(out)])


def decay(out: Any) -> Any:
    total: Any = 0
    for power in (1, 2):
        total = total + out.pow(power).sum()
    return total


def a_sum_of_a_function(out: Any, target: Any) -> Any:
    return F.mse_loss(out, target) + 0.01 * decay(out)


def the_same_line_twice(out: Any, target: Any) -> Any:
    losses = []
    for scale in (1, 2):
        losses.append(F.mse_loss(out * scale, target))
    return sum(losses)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (stacked, {"recon": 4.6667, "kld": 6.0}),
        (stacked_with_weights, {"mse_loss": 4.6667, "l1_loss": 2.0}),
        (sum_of_a_list, {"recon": 4.6667, "penalty": 12.0}),
        (from_zero, {"dice": 2.0, "mse_loss": 4.6667}),
        (total_from_zero, {"recon": 4.6667, "out": 2.0}),
        (begun_under_another_name, {"recon": 4.6667, "kld": 6.0}),
        (kept_in_a_dictionary, {"recon": 4.6667, "kld": 6.0}),
        (by_functions, {"mse_loss": 4.6667, "kl": -3.0}),
        (unpacked, {"recon_loss": 4.6667, "kld_loss": -3.0}),
        (by_modules, {"mse_loss": 4.6667, "DiceLoss": -1.0}),
        (a_sum_of_a_function, {"mse_loss": 4.6667, "decay": 20.0}),
        (the_same_line_twice, {}),
        (weighted, {"recon": 4.6667, "kld": 6.0}),
        (weighted_by_settings, {"pg_loss": 2.0, "v_loss": 4.6667, "entropy": 6.0}),
        (by_and_by, {"mse_loss": 4.6667, "penalty": 6.0, "entropy": 2.0}),
        (in_place, {"l1_loss": 2.0, "regularization": 14.0}),
        (a_product_with_a_name, {"BCE": 4.6667, "KLD": -3.0}),
        (not_a_sum, {}),
        (without_names, {}),
    ],
)
def test_terms_are_those_of_the_source(
    terms: Callable[[Loss], dict[str, float]], make: Loss, expected: dict[str, float]
) -> None:
    assert terms(make) == expected


def scaled_in_place(out: Any, target: Any) -> Any:
    recon = F.mse_loss(out, target)
    kld = out.sum()
    loss = recon + kld
    loss *= 4
    loss /= 2
    return loss


def test_a_loss_that_is_scaled_in_place_ends(terms: Callable[[Loss], dict[str, float]]) -> None:
    assert terms(scaled_in_place) == {"recon": 4.6667, "kld": 6.0}


def doubled(out: Any, target: Any) -> Any:
    loss = F.mse_loss(out, target)
    for _ in range(60):
        loss = loss + loss
    return loss


def test_a_sum_with_itself_ends(terms: Callable[[Loss], dict[str, float]]) -> None:
    assert terms(doubled) == {}


def test_graphs_of_an_evaluation_are_not_kept() -> None:
    followed, refs = _Followed(torch), []
    leave = events.follow(followed)
    for _ in range(3):
        loss = F.mse_loss(torch.ones(2, requires_grad=True), torch.zeros(2)) * 2
        refs.append(weakref.ref(loss))
    leave()
    assert [ref() is None for ref in refs] == [True, True, False]
