"""What wakes the governor: values decide at which step, and the clock only adds windows."""

from __future__ import annotations

from stepscope.events.governor import Governor
from stepscope.events.triggers import LossTrigger, StepTimeTrigger


def rested(cpu: list[float] | None = None) -> Governor:
    """A governor past its first steps."""
    clock = [0.0] if cpu is None else cpu
    one = Governor(lambda deep: None, cpu=lambda: clock[0])
    one.begin()
    one.trains()
    while one.is_deep:
        one.charge("batch")
        one.stepped()
    return one


def losses_of(trigger: LossTrigger, losses: list[float]) -> dict[int, str]:
    seen = {step: trigger.saw(step, loss) for step, loss in enumerate(losses, 1)}
    return {step: why for step, why in seen.items() if why is not None}


def test_a_loss_far_above_the_block_before_is_a_jump_and_noise_is_not() -> None:
    noisy = [1 + 0.3 * (step * 7 % 11) / 11 for step in range(100)]
    assert losses_of(LossTrigger(), noisy) == {}
    assert losses_of(LossTrigger(), [*noisy[:70], 5.0, *noisy]) == {71: "the loss jumped from 1.14 to 5 at step 71"}


def test_two_losses_that_take_turns_are_no_jump() -> None:
    assert losses_of(LossTrigger(), [0.1, 5.0] * 200) == {}


def test_a_falling_loss_is_no_plateau_and_a_level_one_is_one_at_growing_distances() -> None:
    falling = [0.999**step for step in range(4_000)]
    assert losses_of(LossTrigger(), falling) == {}
    level = losses_of(LossTrigger(), [1.0] * 5_000)
    assert list(level) == [544, 1088, 2176, 4352]
    assert level[544] == "the loss has not fallen since step 32"


def test_a_loss_that_is_not_finite_is_for_others_to_report() -> None:
    assert losses_of(LossTrigger(), [1.0] * 40 + [float("inf"), float("nan")] * 40) == {}


def test_steps_that_take_three_times_as_long_are_seen_and_one_long_step_is_not() -> None:
    now = [0.0]
    trigger = StepTimeTrigger(lambda: now[0])
    woken = []
    for step in range(1, 1_200):
        now[0] += 0.050 if step > 800 else 0.010
        now[0] += 60.0 if step == 401 else 0.0  # an evaluation, in one of the steps that are timed
        if step % 16 < 2 and trigger.stepped(step):
            woken.append(step)
    assert len(woken) == 1
    assert 800 < woken[0] < 900


def test_a_jump_of_the_loss_opens_a_window_that_says_why() -> None:
    one = rested()
    for _ in range(40):
        one.felt(1.0)
        one.stepped()
    assert not one.is_deep
    one.felt(7.0)
    assert one.is_deep
    assert (one.windows[-1].is_alarm, one.windows[-1].why) == (
        True,
        f"the loss jumped from 1 to 7 at step {one.step + 1}",
    )


def test_a_loss_from_a_device_wakes_at_the_same_step_whenever_it_arrives() -> None:
    woken = []
    for delay in (1, 9):
        one = rested()
        arrivals: dict[int, tuple[int, float]] = {}
        for _ in range(1_100):
            made = one.step + 1
            arrivals[made + delay] = made, 50.0 if made > 800 else 1.0
            one.stepped()
            if one.step in arrivals:
                one.felt_late(*arrivals[one.step])
        woken.append([window.first for window in one.windows if window.is_alarm and "jumped" in window.why])
    assert woken[0] == woken[1] != []


def test_the_clock_only_adds_windows() -> None:
    def windows(slow_from: int) -> list[tuple[int, str]]:
        now = [0.0]
        one = rested(now)
        for _ in range(2_000):
            now[0] += 0.100 if one.step >= slow_from else 0.010
            one.new("a loader's pass", "train.py:3") if one.step % 50 == 0 else None
            one.stepped()
        return [(window.first, window.why) for window in one.windows]

    steady, slower = windows(10_000), windows(900)
    assert [one for one in slower if "CPU time" not in one[1]] == steady
    assert any("CPU time" in why for _, why in slower)


def test_alarms_of_one_kind_come_ever_more_rarely() -> None:
    one = rested()
    before = len(one.windows)
    for _ in range(1_000):
        one.alarm("a value is not finite")
        one.stepped()
    assert len(one.windows) - before < 15


def test_the_user_who_asks_is_heard_in_an_open_window_too() -> None:
    one = rested()
    one.asked("the process got SIGUSR2")
    assert one.windows[-1].is_alarm
    for _ in range(2):
        one.stepped()
    one.asked("asked for while it ran")
    assert one.windows[-1].why == "the process got SIGUSR2; asked for while it ran"
    for _ in range(2):
        one.stepped()
    assert one.is_deep
    one.stepped()
    assert not one.is_deep
