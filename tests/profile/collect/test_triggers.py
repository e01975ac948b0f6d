"""What asks for a window while a training runs: a signal, a step out of the ordinary, a file."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from stepscope.errors import UsageError
from stepscope.profile.collect.triggers import Anomaly, RequestFile, Signal, signal_named
from stepscope.profile.store import request_window


def test_a_step_three_times_as_long_asks_at_most_twice() -> None:
    anomaly = Anomaly()
    asked = []
    for step in range(200):
        request = anomaly.saw(step, 0.2 if step % 50 == 49 else 0.02)
        if request is not None:
            asked.append((step, request.why))
    assert [step for step, _ in asked] == [49, 99]
    assert asked[0][1] == "step 49 took 200 ms, 10.0 times as long as the steps before"


def test_noise_of_microseconds_is_no_anomaly() -> None:
    anomaly = Anomaly()
    assert [anomaly.saw(step, 0.004 if step == 60 else 0.0001) for step in range(100)] == [None] * 100


def test_a_signal_is_seen_once_and_given_back() -> None:
    trigger = Signal(signal_named("USR2"))
    trigger.install()
    assert trigger.due() is None
    os.kill(os.getpid(), signal.SIGUSR2)
    request = trigger.due()
    assert request is not None
    assert request.why == "the process got SIGUSR2"
    assert trigger.due() is None
    trigger.remove()
    assert signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL


def test_a_signal_the_script_uses_stays_the_scripts() -> None:
    def theirs(*_: object) -> None: ...

    signal.signal(signal.SIGUSR2, theirs)
    try:
        trigger = Signal(signal_named("sigusr2"))
        trigger.install()
        assert signal.getsignal(signal.SIGUSR2) is theirs
        trigger.remove()
        assert signal.getsignal(signal.SIGUSR2) is theirs
    finally:
        signal.signal(signal.SIGUSR2, signal.SIG_DFL)


@pytest.mark.parametrize("name", ["TERM", "INT", "NOSUCH", ""])
def test_signals_that_mean_something_else_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="USR2"):
        signal_named(name)


def test_the_file_is_looked_for_once_a_second_and_taken_away(tmp_path: Path) -> None:
    now = [100.0]
    asked, other = (RequestFile(lambda: tmp_path, rank, clock=lambda: now[0]) for rank in (0, 1))
    path = request_window(tmp_path, steps=4)
    assert asked.due() is None  # a second has not passed
    now[0] += 1.5
    request = asked.due()
    assert request is not None
    assert request.steps == 4
    assert path.exists()  # other ranks want to see it too
    now[0] += 1.5
    assert other.due() is not None
    assert asked.due() is None
    now[0] += 3.0
    assert asked.due() is None
    assert not path.exists()
    request_window(tmp_path)
    now[0] += 2.0
    again = asked.due()
    assert again is not None
    assert again.steps is None


@pytest.mark.parametrize("text", [b"", b"now!", b'{"steps": -3}', b'{"steps": "many"}', b"[" * 2000])
def test_whatever_stands_in_the_file_a_window_is_meant(tmp_path: Path, text: bytes) -> None:
    now = [0.0]
    asked = RequestFile(lambda: tmp_path, 0, clock=lambda: now[0])
    request_window(tmp_path).write_bytes(text)
    now[0] += 2.0
    request = asked.due()
    assert request is not None
    assert request.steps is None
