"""When a window is opened: like torch.profiler's schedule, by a range of steps, or when steps have settled."""

from __future__ import annotations

import itertools

import pytest
import torch.profiler

import stepscope
from stepscope.errors import UsageError
from stepscope.profile.collect.schedule import StepRange, is_settled, schedule


@pytest.mark.filterwarnings("ignore:Profiler won't be using warmup")
def test_a_schedule_means_what_torchs_means() -> None:
    numbers = itertools.product((0, 1, 2), (0, 1), (1, 3), (0, 1, 2), (0, 2))
    for wait, warmup, active, repeat, skip_first in numbers:
        arguments = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat, "skip_first": skip_first}
        ours, theirs = schedule(**arguments), torch.profiler.schedule(**arguments)
        assert [ours(step).name for step in range(25)] == [theirs(step).name for step in range(25)], arguments


def test_the_schedule_is_found_where_profile_is() -> None:
    assert stepscope.profile.schedule is schedule


def test_a_schedule_without_an_active_step_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one active step"):
        schedule(wait=1, warmup=1, active=0)


@pytest.mark.parametrize("text", ["", "5:5", "9:3", "a:b", "-1:4", "1:2:3"])
def test_a_range_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="20:25"):
        StepRange.parse(text)


@pytest.mark.parametrize(
    ("walls", "passed", "steps", "settled"),
    [
        ([0.1] * 9, 60.0, 2, False),
        ([0.1] * 9, 5.0, 9, False),
        ([0.1] * 10, 5.0, 10, True),
        ([0.1] * 10, 0.9, 10, False),
        ([0.001] * 8, 0.03, 24, False),
        ([0.001] * 8, 0.03, 25, True),
        ([0.5] * 6 + [0.1] * 4, 4.0, 10, False),
        ([12.0] * 3, 36.0, 3, True),
    ],
)
def test_steps_have_settled(walls: list[float], passed: float, steps: int, settled: bool) -> None:
    assert is_settled(walls, passed, steps) is settled
