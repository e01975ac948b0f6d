"""A printed loss that goes the other way than the trained one is a finding; noise, units and smoothing are not."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from stepscope.diagnose.rules.metric.printed_disagrees import _accuracy, _opposite, _sum
from stepscope.evidence.loaders import Loader
from stepscope.evidence.printed_numbers import Compared

FALLING = [2.0 * 0.9**at for at in range(20)]


def compared(printed: list[float], derived: list[float], kind: str = "loss") -> Compared:
    return Compared("loss", kind, None, printed, derived)


def test_a_printed_loss_that_rises_while_the_trained_one_falls() -> None:
    proof = _opposite(compared([1 + 0.1 * at for at in range(20)], FALLING))
    assert proof is not None
    assert proof.message == "the printed 'loss' rises while the training loss falls"


@pytest.mark.parametrize(
    "printed",
    [
        FALLING,
        [100 * value for value in FALLING],
        [sum(FALLING[: at + 1]) / (at + 1) for at in range(20)],
        [random.Random(at).random() for at in range(20)],
        [1.0] * 20,
    ],
    ids=["the same", "another unit", "a running mean", "noise", "constant"],
)
def test_other_units_means_and_noise_are_left_alone(printed: list[float]) -> None:
    assert _opposite(compared(printed, FALLING)) is None


def test_an_accuracy_off_by_one_factor_is_found_and_others_are_not() -> None:
    right = [0.4, 0.55, 0.7, 0.8]
    assert _accuracy(compared([0.75 * value for value in right], right, "accuracy")) is not None
    assert _accuracy(compared([75 * value for value in right], right, "accuracy")) is not None
    assert _accuracy(compared([100 * value for value in right], right, "accuracy")) is None
    assert _accuracy(compared([0.2, 0.5, 0.4, 0.9], right, "accuracy")) is None, "another measure"
    assert _accuracy(compared([0.3, 0.41], right[:2], "accuracy")) is None, "too few to tell"


@pytest.mark.parametrize(
    ("name", "factor", "is_wrong"),
    [
        ("avg loss", 12, True),
        ("mean_loss", 12, True),
        ("loss", 12, False),
        ("avg loss", 1, False),
        ("avg loss", 7, False),
    ],
)
def test_a_mean_loss_that_is_as_large_as_a_sum(name: str, factor: int, is_wrong: bool) -> None:
    loader = Loader(0, None, 0)
    loader.epochs = loader.finished = 5
    loader.batches, loader.trains = 60, 60
    run = SimpleNamespace(loaders=SimpleNamespace(all=[loader]))
    proof = _sum(run, Compared(name, "loss", None, [factor * value for value in FALLING], FALLING))
    assert (proof is not None) is is_wrong
    if proof is not None:
        assert proof.message == f"the printed '{name}' is a sum over 12 batches, not a mean"
