"""What fits into a window: as much as the user asked for, else as much as events, memory and time allow."""

from __future__ import annotations

import sys

import pytest

from stepscope.profile.collect.budget import BYTES_PER_EVENT, Asked, Budget, CallCounter, Probe, choose

SMALL = Probe(events=1_000, calls=2_000, wall_s=0.01)


def test_a_small_step_is_recorded_with_all_but_python_calls() -> None:
    chosen = choose(Asked(), SMALL, Budget(250_000))
    options = chosen.options
    assert [options.record_shapes, options.profile_memory, options.with_stack] == [True, True, False]
    assert chosen.steps == 5
    assert chosen.said == []


def test_a_large_step_is_recorded_with_less_and_that_is_said() -> None:
    chosen = choose(Asked(), Probe(events=200_000, calls=None, wall_s=0.5), Budget(250_000))
    assert [chosen.options.record_shapes, chosen.options.profile_memory, chosen.steps] == [True, False, 1]
    assert chosen.said == ["allocations were left out: a step has about 200,000 events, at most 250,000 are recorded"]
    chosen = choose(Asked(), Probe(events=900_000, calls=None, wall_s=0.5), Budget(250_000))
    assert [chosen.options.record_shapes, chosen.options.profile_memory, chosen.steps] == [False, False, 1]
    assert len(chosen.said) == 2


def test_python_calls_count_when_they_are_asked_for() -> None:
    assert choose(Asked(with_stack=True), Probe(10_000, 60_000, 0.1), Budget(250_000)).steps == 3


def test_what_the_user_insists_on_is_recorded() -> None:
    asked = Asked(with_stack=True, profile_memory=True)
    chosen = choose(asked, Probe(events=300_000, calls=900_000, wall_s=0.5), Budget(250_000))
    assert (chosen.options.with_stack, chosen.options.profile_memory, chosen.steps) == (True, True, 1)


def test_what_the_user_forbids_is_not() -> None:
    chosen = choose(Asked(with_stack=False, profile_memory=False, record_shapes=False), SMALL, Budget(250_000))
    options = chosen.options
    assert [options.with_stack, options.profile_memory, options.record_shapes] == [False, False, False]
    assert chosen.said == []


@pytest.mark.parametrize(
    ("events", "wall_s", "steps"), [(100_000, 0.1, 1), (40_000, 0.1, 3), (1_000, 25.0, 2), (1_000, 500.0, 1)]
)
def test_fewer_steps_where_one_is_large_or_long(events: int, wall_s: float, steps: int) -> None:
    chosen = choose(Asked(with_stack=False), Probe(events, None, wall_s), Budget(250_000))
    assert chosen.steps == steps


def test_memory_that_is_short_shrinks_the_window() -> None:
    budget = Budget(250_000, free_bytes=4 * BYTES_PER_EVENT * 8_000)
    assert budget.events == 8_000
    assert choose(Asked(with_stack=False), Probe(5_000, None, 0.1), budget).steps == 1


def test_the_counter_counts_calls_and_is_gone() -> None:
    counter = CallCounter()
    assert counter.start()
    for _ in range(50):
        str.upper("a")
        (lambda: None)()
    counter.stop()
    assert sys.getprofile() is None
    assert 100 <= counter.calls <= 104


def test_the_counter_leaves_another_profiler_alone() -> None:
    def theirs(*_: object) -> None: ...

    sys.setprofile(theirs)
    try:
        counter = CallCounter()
        assert not counter.start()
        counter.stop()
        assert sys.getprofile() is theirs
    finally:
        sys.setprofile(None)
