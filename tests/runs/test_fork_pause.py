"""Our threads stop before a fork and go on after it, so that Python has nothing to warn the script of."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from stepscope.events import fork_pause
from stepscope.runs.write.writer import RunWriter
from stepscope.track.background import Ticker

from .written import new_run, rows, until

FORKING = """
import os, sys, warnings
import stepscope
warnings.simplefilter("error", DeprecationWarning)
os.environ["STEPSCOPE_QUIET"] = "1"
run = stepscope.init(dir=sys.argv[1])
for step in range(3):
    run.log({"loss": 1.0}, step=step)
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
run.finish()
"""


def ours() -> list[str]:
    return sorted(one.name for one in threading.enumerate() if one.name.startswith("stepscope-"))


def test_threads_pause_and_go_on(store: Path) -> None:
    path = new_run(store)
    writer = RunWriter(path, run_id=path.name, heartbeat_s=60.0)
    ticker, turns = Ticker(), threading.Event()
    ticker.every(0.01, turns.set, "a job")
    ticker.start()
    row = writer.keyset(("loss",))
    row.write(0, [1.0])
    until(lambda: ours() == ["stepscope-ticker", "stepscope-writer"])
    fork_pause._before()
    assert ours() == []
    fork_pause._in_parent()
    until(lambda: ours() == ["stepscope-ticker", "stepscope-writer"])
    turns.clear()
    assert turns.wait(30.0)
    row.write(1, [2.0])
    ticker.close()
    writer.close()
    assert ours() == []
    assert len(rows(path)) == 2


def test_what_was_closed_stays_closed_after_a_fork() -> None:
    ticker = Ticker()
    ticker.every(60.0, lambda: None, "a job")
    ticker.start()
    ticker.close()
    fork_pause._before()
    fork_pause._in_parent()
    assert ours() == []


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.12 is the first to warn")
def test_a_fork_gives_no_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FORKING, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
