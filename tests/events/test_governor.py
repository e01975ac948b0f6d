"""The governor: what is looked at is decided by prices and steps, and what was looked at is known afterwards."""

from __future__ import annotations

from stepscope.events.cadence import Cadence
from stepscope.events.governor import PRICES, Governor


def governor(cpu_s: float = 0.0) -> tuple[Governor, list[bool]]:
    depths: list[bool] = []
    made = Governor(depths.append, cpu=lambda: cpu_s)
    made.begin()
    return made, depths


def train(one: Governor, steps: int, ops: int = 10) -> None:
    for _ in range(steps):
        one.trains()
        if one.is_deep:
            for _ in range(ops):
                one.charge("op")
            one.charge("step")
        one.stepped()


def test_a_script_that_never_trains_is_left_alone_after_its_setup() -> None:
    one, depths = governor()
    while one.is_deep:
        one.charge("model")
        one.at_rest()
    assert depths == [True, False]
    assert one.windows[0].ended == "the budget"
    assert one.coverage() == []


def test_calls_that_are_all_alike_end_the_look_before_training_and_never_a_training() -> None:
    one, depths = governor()
    for calls in range(1, 32):
        one.saw_alike(calls)
        assert one.is_deep
    one.saw_alike(32)
    assert depths == [True, False]
    assert one.windows[0].ended == "complete"

    one.trains()
    one.saw_alike(1000)
    assert one.is_deep


def test_calls_that_are_all_alike_do_not_end_a_look_that_somebody_holds() -> None:
    one, _ = governor()
    one.hold("replay")
    one.saw_alike(1000)
    assert one.is_deep


def test_the_first_steps_are_looked_at_until_the_budget_is_spent() -> None:
    one, depths = governor()
    train(one, 90, ops=400)
    assert depths == [True, False]
    spent = 400 * PRICES["op"] + PRICES["step"]
    assert one.coverage() == [(1, int(0.30 / spent) + 1)]


def test_a_few_steps_are_looked_at_whatever_they_cost() -> None:
    one, _ = governor()
    train(one, 20, ops=100_000)
    assert one.coverage() == [(1, 4)]


def test_later_steps_are_looked_at_on_a_growing_schedule() -> None:
    one, _ = governor()
    train(one, 2_500, ops=400)
    first = one.coverage()[0]
    assert one.coverage() == [first, (101, 102), (1001, 1002)]


def test_the_same_events_are_looked_at_however_slow_the_machine_is() -> None:
    quiet, busy = governor()[0], governor()[0]
    for one, slow in ((quiet, 1.0), (busy, 3.0)):
        for _ in range(300):
            one.trains()
            if one.is_deep:
                for _ in range(100):
                    one.charge("op")
                one.spent(slow * 100 * PRICES["op"])
            one.stepped()
    assert quiet.coverage() == busy.coverage()


def test_measured_time_far_over_the_price_ends_a_window_too() -> None:
    one, _ = governor()
    one.trains()
    for _ in range(10):
        one.spent(1.0)
        one.stepped()
    assert one.coverage() == [(1, 4)]


def test_a_pass_of_a_loader_is_new_the_first_second_and_fifth_time() -> None:
    one, _ = governor()
    train(one, 30, ops=100_000)
    woken = []
    for _ in range(10):
        one.new("a loader's pass", "train.py:3")
        woken.append(one.is_deep)
        one.rest()
    assert [number for number, yes in enumerate(woken, 1) if yes] == [1, 2, 5, 10]


def test_an_alarm_wakes_and_compiled_code_ends_all_close_looking() -> None:
    one, _ = governor()
    train(one, 30, ops=100_000)
    one.alarm("the loss is not finite")
    assert one.is_deep
    one.close("the script compiles its model")
    one.alarm("again")
    assert not one.is_deep
    assert one.windows[-1].ended == "the script compiles its model"


def test_the_pulse_of_short_steps_is_taken_more_rarely() -> None:
    now = [0.0]
    cadence = Cadence(lambda: now[0])
    felt = []
    for step in range(1_000):
        now[0] += 0.001
        if cadence.is_due():
            felt.append(step)
            cadence.took(100e-6)
    assert cadence.stride == 16
    assert felt[:199] == list(range(199)), "the first ones all"


def test_after_thousands_of_very_short_steps_the_pulse_is_rarer_but_not_on_a_device() -> None:
    strides = {}
    for is_on_device in (False, True):
        now = [0.0]
        cadence = Cadence(lambda now=now: now[0])
        cadence.is_on_device = is_on_device
        for step in range(1, 9_000):
            now[0] += 0.0005
            if cadence.is_due():
                cadence.took(400e-6)
            strides[is_on_device, step] = cadence.stride
    assert [strides[False, step] for step in (1_900, 2_200, 4_200, 8_900)] == [16, 32, 64, 128]
    assert strides[True, 8_900] == 16


def test_the_pulse_of_long_steps_is_taken_at_each() -> None:
    now = [0.0]
    cadence = Cadence(lambda: now[0])
    for _ in range(500):
        now[0] += 0.050
        assert cadence.is_due()
        cadence.took(100e-6)
