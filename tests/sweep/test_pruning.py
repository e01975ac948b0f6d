"""Which runs are stopped early: those that diverged, and those behind the others; and, as important, which are not."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from stepscope.errors import MissingExtra
from stepscope.sweep.divergence import diverged
from stepscope.sweep.early_stop import EarlyStop
from stepscope.sweep.pruning import Pruner, make_pruner
from stepscope.sweep.readings import is_loss

NAN, INF = float("nan"), float("inf")


def lost(*values: float, readings: int = 3, falls: bool = True, must_have_been: bool = False) -> str | None:
    return diverged(np.array(values), readings, 100.0, falls=falls, must_have_been=must_have_been)


def test_non_finite_values_in_a_row_are_a_divergence() -> None:
    assert lost(0.9, NAN, NAN, NAN) == "NaN 3 times in a row"
    assert lost(0.9, INF, INF, INF) == "Inf 3 times in a row"
    assert lost(NAN, NAN, NAN) == "NaN 3 times in a row"
    assert lost(0.9, NAN, readings=1) == "NaN 1 times in a row"


@pytest.mark.parametrize(
    "values",
    [
        [],
        [0.9],
        [0.9, NAN, NAN],
        [0.9, INF, INF, 0.8],
        [NAN, NAN, NAN, NAN, 0.9, NAN, NAN, NAN, NAN, 0.8, NAN, NAN, NAN],  # a validation at every fifth step
        [0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 5.0, 5.0],  # began at nothing: no measure of far
        [1.0, 1.0, 1.0, 1.0, 1.0, 99.0, 99.0, 99.0],
        [1.0, 900.0, 1.0, 1.0, 1.0, 1.0, 1.0, 5000.0, 1.0],  # spikes
        [1.0, 900.0, 900.0, 900.0],  # too early to say where it began
    ],
)
def test_what_is_no_divergence(values: list[float]) -> None:
    assert lost(*values) is None


def test_an_exploding_loss_is_a_divergence_and_a_growing_score_is_not() -> None:
    values = [1.0, 2.0, 1.5, 1.0, 1.0, 250.0, 9e3, 4e5]
    assert lost(*values) == "from 1 to 4e+05, above 100 times its first readings 3 times in a row"
    assert lost(*values, falls=False) is None


def test_a_metric_that_was_never_measured_is_not_lost() -> None:
    assert lost(NAN, NAN, NAN, NAN, must_have_been=True) is None
    assert lost(0.5, NAN, NAN, NAN, must_have_been=True) is not None


def test_losses_are_known_by_their_names() -> None:
    named = ["loss", "train/loss", "Train_Loss", "watched/loss", "epoch.loss"]
    others = ["val_loss", "val/loss", "loss_scale", "lossless", "gloss", "eval/loss", "test loss", "accuracy"]
    assert [name for name in [*named, *others] if is_loss(name)] == named


def feed(pruner: Pruner, number: int, values: list[float], steps: list[int] | None = None) -> str | None:
    at = np.array(steps if steps is not None else range(len(values)))
    return pruner.seen(number, at, np.array(values))


def finished(pruner: Pruner, number: int, values: list[float], steps: list[int] | None = None) -> None:
    assert feed(pruner, number, values, steps) is None
    pruner.ended(number, False)


def made(goal: Literal["min", "max"] = "min", **how: Any) -> Pruner:
    pytest.importorskip("optuna")
    pruner = make_pruner(EarlyStop(**how), goal)
    assert pruner is not None
    return pruner


def median(goal: Literal["min", "max"] = "min", **how: int) -> Pruner:
    return made(goal, pruner="median", **how)


def test_median_stops_who_is_worse_than_half_of_the_others_at_that_step() -> None:
    pruner = median(after_runs=3)
    for number, level in enumerate((3.0, 2.0, 1.0)):
        finished(pruner, number, [level + 1, level + 0.5, level])
    assert feed(pruner, 3, [9, 8, 2.5]) == "2.5 at step 2, by Optuna's MedianPruner"
    assert feed(pruner, 4, [9, 8, 1.9]) is None
    assert feed(pruner, 5, [9, 8]) is None  # two readings say little
    assert feed(pruner, 6, [1, 1, 1, 6]) is None  # nobody else has come so far


def test_one_bad_reading_ends_nothing() -> None:
    pruner = median(after_runs=3)
    for number in range(3):
        finished(pruner, number, [3, 2, 1])
    assert feed(pruner, 3, [0.9, 50, 50]) is None
    assert feed(pruner, 4, [NAN, NAN, NAN]) is None


def test_median_waits_for_runs_and_steps() -> None:
    pruner = median(after_runs=4, after_steps=3)
    for number in range(4):
        finished(pruner, number, [1, 1, 1, 1])
    assert feed(pruner, 4, [9, 9, 9]) is None
    assert feed(pruner, 4, [9, 9, 9, 9]) is not None
    assert feed(median(after_runs=4), 0, [9, 9, 9]) is None


def test_for_a_score_large_is_good() -> None:
    pruner = median("max", after_runs=1)
    finished(pruner, 0, [0.5, 0.6, 0.7])
    assert feed(pruner, 1, [0.1, 0.2, 0.3]) == "0.3 at step 2, by Optuna's MedianPruner"
    assert feed(pruner, 2, [0.1, 0.2, 0.8]) is None


def test_asha_lets_the_best_third_pass_each_rung() -> None:
    pruner = made(pruner="asha", min_steps=2, eta=3)
    for number, level in enumerate((5, 4, 3)):  # each the best so far
        assert feed(pruner, number, [level] * 3) is None
    assert feed(pruner, 3, [6, 6, 6]) == "6 at step 2, by Optuna's SuccessiveHalvingPruner"
    assert feed(pruner, 4, [2, 2, 2]) is None
    # the rung is behind it: at step 5 nothing is asked, at 6 the next one
    assert feed(pruner, 4, [2, 2, 2, 9, 9, 9]) is None


def test_wandb_counts_readings_and_not_steps() -> None:
    pruner = made(pruner="asha", min_steps=2, eta=2, by="readings")
    feed(pruner, 0, [1, 1], [100, 900])
    assert feed(pruner, 1, [2], [5000]) is None
    assert feed(pruner, 1, [2, 2], [5000, 6000]) == "2 at reading 2, by Optuna's SuccessiveHalvingPruner"


def test_runs_of_an_earlier_start_count_with_all_their_readings() -> None:
    pruner = median(after_runs=2)
    for number, values in enumerate(([1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [9, 9, 9, 9, 0.5])):
        pruner.past(number, np.arange(5), np.array(values, float), was_pruned=False)
    assert feed(pruner, 3, [2, 2, 2, 2, 0.9]) is not None
    third = pruner.study.trials[2]
    assert (third.value, len(third.intermediate_values)) == (0.5, 5)


def test_without_optuna_the_install_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepscope.sweep.samplers.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"early_stop: {pruner: median} needs optuna.*'stepscope\[sweep\]'"):
        make_pruner(EarlyStop(pruner="median"), "min")
    assert make_pruner(EarlyStop(), "min") is None
