from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from stepscope.runs.format import writer_identity


def test_the_start_of_a_process_is_the_one_psutil_gives() -> None:
    assert writer_identity.process_started() == pytest.approx(psutil.Process().create_time(), abs=0.02)
    assert writer_identity.process_started(os.getppid()) == pytest.approx(
        psutil.Process(os.getppid()).create_time(), abs=0.02
    )


def test_the_age_of_our_process_goes_on() -> None:
    first = writer_identity.process_age_s()
    assert first == pytest.approx(time.time() - psutil.Process().create_time(), abs=2)
    time.sleep(0.05)
    assert writer_identity.process_age_s() > first


def test_a_process_that_is_gone_has_no_start() -> None:
    child = subprocess.Popen([sys.executable, "-S", "-c", ""])
    child.wait()
    assert writer_identity.process_started(child.pid) == 0.0


def test_the_boot_id_stays_the_same_and_falls_back_to_the_boot_time(monkeypatch: pytest.MonkeyPatch) -> None:
    writer_identity.boot_id.cache_clear()
    first = writer_identity.boot_id()
    writer_identity.boot_id.cache_clear()
    assert first == writer_identity.boot_id() != ""
    writer_identity.boot_id.cache_clear()
    monkeypatch.setattr(writer_identity, "_LINUX_BOOT_ID", Path("/nowhere/boot_id"))
    assert writer_identity.boot_id().startswith("boot-" if sys.platform != "darwin" else "")
    writer_identity.boot_id.cache_clear()


def test_psutil_is_asked_where_there_is_no_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_proc(pid: int) -> float:
        raise FileNotFoundError(f"/proc/{pid}/stat")

    monkeypatch.setattr(writer_identity, "_started_from_proc", no_proc)
    assert writer_identity.process_started() == psutil.Process().create_time()


def test_the_host_has_a_name() -> None:
    assert writer_identity.host_name()
