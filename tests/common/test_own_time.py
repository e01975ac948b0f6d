"""A clock that stops while the machine is busy with others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stepscope.common.own_time import own_time, waited_s

knows_waiting = pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="this system does not say how long a task waited"
)


def test_it_runs_on_while_asleep() -> None:
    began = own_time()
    time.sleep(0.05)
    assert own_time() - began >= 0.045


@knows_waiting
def test_it_stops_while_others_have_the_processor() -> None:
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        own, wall, work = own_time(), time.perf_counter(), time.thread_time()
        while time.thread_time() - work < 0.3:
            pass
        own, wall, work = own_time() - own, time.perf_counter() - wall, time.thread_time() - work
    finally:
        for other in others:
            other.kill()
            other.wait()
        os.sched_setaffinity(0, processors)
    assert own == pytest.approx(work, abs=0.1)
    assert wall > 1.5 * own


def test_of_a_process_that_does_not_exist_nothing_is_known() -> None:
    assert waited_s(2**22 + 1) == 0.0
