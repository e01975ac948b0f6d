"""What got slower, beyond the noise: on made profiles whose truth is known."""

from __future__ import annotations

import random
from typing import Any

import pytest

from stepscope.errors import UsageError
from stepscope.profile.diff import diff_profiles
from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import Builder
from stepscope.records.profile import ProfileDiff

US = 1000


def training(
    steps: int = 8, *, seed: int = 0, addmm_us: float = 300.0, extra: str = "", jitter: float = 0.02
) -> Profile:
    """Steps of an op `aten::addmm` and an op `aten::relu` (100 us), each with a little noise."""
    chance = random.Random(seed)
    builder, now = Builder(), 1_000_000_000
    for step in range(steps):
        begin, at = now, now
        ops = [("aten::addmm", addmm_us), ("aten::relu", 100.0), *([(extra, 50.0)] if extra else [])]
        for name, mean in ops:
            took = int(mean * US * chance.uniform(1 - jitter, 1 + jitter))
            builder.add(name, "cpu_op", start=at, dur=took, pid=1, tid=1)
            at += took
        now = at + 10 * US
        builder.add(f"ProfilerStep#{step}", "user_annotation", start=begin, dur=now - begin, pid=1, tid=1)
    return Profile.of_events({0: builder.events()})


def rows(diff: ProfileDiff, id: str) -> dict[str, dict[str, Any]]:
    sheet = next(sheet for sheet in diff.sheets if sheet.id == id)
    keys = [column.key for column in sheet.columns]
    return {str(row[0]): dict(zip(keys, row, strict=True)) for row in sheet.rows}


def test_names_the_operator_that_got_slower_and_by_how_much() -> None:
    found = diff_profiles(training(), training(seed=1, addmm_us=390.0), names=("before", "after"))
    assert found.faster is False
    assert found.headline.startswith("after is 1.2")
    assert "aten::addmm +" in found.headline
    operators = rows(found, "diff-operators")
    assert operators["aten::addmm"]["change_ns"] == pytest.approx(90 * US, rel=0.15)
    assert operators["aten::addmm"]["clear"] is True
    assert operators["aten::relu"]["clear"] is False


def test_two_runs_of_the_same_are_not_called_different() -> None:
    for seed in range(1, 12):
        found = diff_profiles(training(), training(seed=seed))
        assert found.faster is None
        assert found.headline.startswith("no clear difference")


def test_a_faster_run_is_called_faster() -> None:
    found = diff_profiles(training(addmm_us=600.0), training(seed=3, addmm_us=300.0), names=("old", "new"))
    assert found.faster is True
    assert found.headline.startswith("new is 1.7")
    assert "faster" in found.headline


def test_what_is_new_or_gone_is_counted() -> None:
    found = diff_profiles(training(), training(seed=1, extra="aten::copy_"))
    assert rows(found, "diff-operators")["aten::copy_"]["a_ns"] == 0
    assert rows(found, "diff-operators")["aten::copy_"]["ratio"] is None
    sheet = next(sheet for sheet in found.sheets if sheet.id == "diff-operators")
    assert sheet.notes == ["1 only in B, 0 only in A"]


def test_the_parts_of_the_change_sum_to_the_change_of_the_step() -> None:
    steps = rows(diff_profiles(training(), training(seed=2, addmm_us=350.0)), "diff-steps")
    whole = steps.pop("the whole step")
    assert sum(row["change_ns"] for row in steps.values()) == pytest.approx(whole["change_ns"], abs=len(steps))


def test_one_step_each_says_nothing_of_noise() -> None:
    found = diff_profiles(training(1), training(1, addmm_us=900.0))
    assert found.faster is None
    assert "nothing can be said of noise" in found.notes[1]


def test_profiles_without_steps_are_refused_with_what_to_do() -> None:
    empty = Profile.of_events({0: Builder().events()})
    with pytest.raises(UsageError, match="nothing in common to compare"):
        diff_profiles(empty, training())
