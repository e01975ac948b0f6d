"""However a training ends, its run says how, and its exit code is what it would have been."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.records import End

Reader = Callable[[Path], Any]
Script = Callable[..., Any]
START = "import stepscope, sys, os, time, signal\nrun = stepscope.init(system=False, git=False)\nrun.log({'x': 1.0})\n"


def the_end(run: Any) -> End:
    (end,) = run.of(End)
    assert run.points("x")[0] == (0, 1.0)
    return end  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("code", "exit_code", "status", "error"),
    [
        ("", 0, "finished", None),
        ("run.finish()", 0, "finished", None),
        ("sys.exit()", 0, "finished", None),
        ("sys.exit(3)", 3, "failed", "exit code 3"),
        ("sys.exit('out of data')", 1, "failed", "out of data"),
        ("exit(3)", 3, "failed", "exit code 3"),
        ("quit()", 0, "finished", None),
        ("with run: raise SystemExit(3)", 3, "failed", "exit code 3"),
        ("sys.exit(143)", 143, "preempted", None),
        ("1 / 0", 1, "failed", "ZeroDivisionError: division by zero"),
        ("raise KeyboardInterrupt", 130, "stopped", None),
        ("with run: raise ValueError('inside')", 1, "failed", "ValueError: inside"),
        ("with run: sys.exit(4)", 4, "failed", "exit code 4"),
        ("with run: raise KeyboardInterrupt", 130, "stopped", None),
        ("run.finish(exit_code=2)", 0, "failed", None),
        ("try: sys.exit(5)\nexcept SystemExit: run.log({'x': 2.0})", 0, "finished", None),
        (
            "import threading; t = threading.Thread(target=sys.exit, args=(1,)); t.start(); t.join()",
            0,
            "finished",
            None,
        ),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str) else None,
)
def test_every_way_to_end(run_script: Script, code: str, exit_code: int, status: str, error: str | None) -> None:
    done, (run,) = run_script(START + code)
    end = the_end(run)
    assert (end.status, end.error) == (status, error)
    assert done.returncode == exit_code or (exit_code == 130 and done.returncode == -signal.SIGINT)
    if "ZeroDivision" in (error or ""):
        assert "line 4" in end.traceback
        assert "ZeroDivisionError" in done.stderr
        assert "ZeroDivisionError" in run.text("stderr"), "what the interpreter printed is kept with the console"


def test_a_hook_installed_before_still_runs(run_script: Script) -> None:
    hook = "import sys\nsys.excepthook = lambda *a: print('mine', file=sys.stderr)\n"
    done, (run,) = run_script(hook + START + "1 / 0")
    assert done.stderr.strip() == "mine"
    assert the_end(run).status == "failed"


@pytest.mark.parametrize(
    "code", ["os._exit(7)", "os.kill(os.getpid(), signal.SIGKILL)", "import ctypes; ctypes.string_at(0)"]
)
def test_a_sudden_death_leaves_what_was_logged_and_no_end(run_script: Script, code: str) -> None:
    _done, (run,) = run_script(START + code)
    assert run.of(End) == []
    assert run.points("x") == [(0, 1.0)]


WAIT = "print('ready', flush=True)\nwhile True: run.log({'y': 1.0}); time.sleep(0.001)\n"


def sigterm(tmp_path: Path, code: str) -> tuple[int, str]:
    script = tmp_path / "train.py"
    script.write_text(code)
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "STEPSCOPE_DIR": str(tmp_path / "runs")},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    out, _err = process.communicate(timeout=300)
    return process.returncode, out


def only_run(tmp_path: Path) -> Path:
    (path,) = [each for each in (tmp_path / "runs").iterdir() if len(each.name) == 26]
    return path


def test_sigterm_is_recorded_and_ends_the_process_as_ever(tmp_path: Path, recorded: Reader) -> None:
    code, _ = sigterm(tmp_path, START + WAIT)
    assert code == -signal.SIGTERM
    run = recorded(only_run(tmp_path))
    assert [end.status for end in run.of(End)] == ["preempted"]
    assert [step for step, _ in run.points("y")] == list(range(len(run.points("y"))))


def test_a_handler_of_the_script_may_save_a_checkpoint_and_log_it(tmp_path: Path, recorded: Reader) -> None:
    handler = (
        "import signal, sys\n"
        "def save(*_):\n    run.log({'saved': 1.0}); print('saved', flush=True); sys.exit(99)\n"
        "signal.signal(signal.SIGTERM, save)\n"
    )
    code, out = sigterm(tmp_path, handler + START + WAIT)
    assert (code, out) == (99, "saved\n")
    run = recorded(only_run(tmp_path))
    assert run.of(End)[0].status == "preempted"
    assert len(run.points("saved")) == 1


def test_a_script_that_stops_in_good_order_after_sigterm_was_preempted(tmp_path: Path, recorded: Reader) -> None:
    handler = "import signal\nasked = []\nsignal.signal(signal.SIGTERM, lambda *_: asked.append(1))\n"
    code, _ = sigterm(tmp_path, handler + START + WAIT.replace("while True", "while not asked"))
    assert code == 0
    assert [end.status for end in recorded(only_run(tmp_path)).of(End)] == ["preempted", "preempted"]


def test_a_script_that_ignores_sigterm_goes_on_ignoring_it(run_script: Script) -> None:
    code = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + START
    done, (run,) = run_script(code + "os.kill(os.getpid(), signal.SIGTERM); time.sleep(0.2)")
    assert done.returncode == 0
    assert the_end(run).status == "finished"


def everything_installed() -> tuple[Any, ...]:
    threads = sorted(thread.name for thread in threading.enumerate())
    return (
        sys.excepthook, sys.exit, signal.getsignal(signal.SIGTERM), sys.stdout, sys.stderr, sys.stdout.write,
        threading.excepthook, threads, os.environ.get("STEPSCOPE_RUN"), os.environ.get("STEPSCOPE_ATTEMPT"),
    )  # fmt: skip


def test_nothing_is_left_in_the_process_after_finish(store: Path) -> None:
    before = everything_installed()
    run = stepscope.init(dir=store, system_interval_s=0.1)
    run.log({"x": 1.0, "text": "hello"})
    run.log({"image": stepscope.Image(__import__("numpy").zeros((2, 2)))})
    assert everything_installed() != before
    time.sleep(0.25)
    run.finish()
    assert everything_installed() == before


def test_a_second_init_finishes_the_first(store: Path, recorded: Reader) -> None:
    first = stepscope.init(dir=store, system=False)
    second = stepscope.init(dir=store, system=False)
    assert first.is_finished
    assert stepscope.current() is second
    stepscope.finish()
    assert stepscope.current() is None
    assert [end.status for end in recorded(first.path).of(End)] == ["finished"]  # type: ignore[arg-type]


def test_an_exception_passes_through_the_with_block_untouched(store: Path) -> None:
    error = ValueError("mine")
    with pytest.raises(ValueError) as caught, stepscope.init(dir=store, system=False):
        raise error
    assert caught.value is error


def test_finishing_twice_changes_nothing(store: Path, recorded: Reader) -> None:
    run = stepscope.init(dir=store, system=False)
    run.finish(status="stopped")
    run.finish()
    assert [end.status for end in recorded(run.path).of(End)] == ["stopped"]  # type: ignore[arg-type]
