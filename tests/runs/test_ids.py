from __future__ import annotations

import random

from stepscope.runs.format.ids import id_time, is_run_id, new_run_id


def test_an_id_is_26_safe_letters_that_begin_with_its_time() -> None:
    made = new_run_id(1_700_000_000.123)
    assert len(made) == 26
    assert is_run_id(made)
    assert id_time(made) == 1_700_000_000.123


def test_a_thousand_ids_of_the_same_millisecond_differ() -> None:
    assert len({new_run_id(5.0) for _ in range(1000)}) == 1000


def test_ids_sort_by_time_also_over_a_clock_that_is_out_of_range() -> None:
    times = [-5.0, 0.0, 1.0, 1.7e9, 1.8e9, 1e18]
    ids = [new_run_id(now)[:10] for now in times]
    assert ids == sorted(ids)
    assert all(is_run_id(new_run_id(now)) for now in times)


def test_random_numbers_of_the_training_stay_as_they_were() -> None:
    random.seed(3)
    expected = random.random()
    random.seed(3)
    new_run_id()
    assert random.random() == expected


def test_other_names_are_no_ids() -> None:
    good = new_run_id()
    for bad in ("", "..", good[:-1], good + "0", good.lower(), good[:-1] + "/", good[:-1] + "I", "Z" * 26, good + "\n"):
        assert not is_run_id(bad)
