"""A fault of ours is said once and never reaches the caller."""

from __future__ import annotations

import os

import pytest

from stepscope import fence


def broken() -> int:
    raise KeyError("our bug")


def test_the_caller_gets_the_default_and_the_user_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    fenced = fence.fenced("the test", default=7)(broken)
    assert [fenced(), fenced(), fenced()] == [7, 7, 7]
    assert capsys.readouterr().err.count("the test failed and was skipped; training continues") == 1


def test_a_new_kind_of_fault_reaches_the_listener(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[fence.Fault] = []
    fence.on_fault(told.append)
    fence.report("one", ValueError("a"))
    fence.report("one", ValueError("b"))
    fence.report("one", TypeError("c"))
    assert [(fault.where, fault.error, fault.count) for fault in told] == [
        ("one", "ValueError: a", 2),
        ("one", "TypeError: c", 1),
    ]


def test_a_lost_device_is_no_fault_of_ours_to_speak_of(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[fence.Fault] = []
    fence.on_fault(told.append)
    fence.report("one", RuntimeError("CUDA error: device-side assert triggered"))
    assert capsys.readouterr().err == ""
    assert len(told) == 1


def test_a_listener_that_fails_harms_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    def listener(fault: fence.Fault) -> None:
        raise OSError("disk full")

    fence.on_fault(listener)
    fence.report("one", ValueError("a"))


def test_interrupts_pass_through_the_fence() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fence.fenced("the test")(stop)()


def test_a_child_forked_while_a_fault_is_reported_can_report_its_own() -> None:
    with fence._lock:
        child = os.fork()
        if child == 0:
            os.close(2)
            fence.report("child", ValueError("x"))
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0
