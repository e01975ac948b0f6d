"""A signal that we hear too looks and works as if we did not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import pytest

from stepscope.events import installed_now
from stepscope.events.signals import hear_signal

NUMBER = signal.SIGUSR1 if hasattr(signal, "SIGUSR1") else signal.SIGTERM
pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


@pytest.fixture
def theirs() -> Any:
    """Handlers of the script's, and what they were called with."""
    got: list[Any] = []
    before = {number: signal.getsignal(number) for number in (NUMBER, signal.SIGUSR2)}
    yield got
    for number, handler in before.items():
        signal.signal(number, handler)


def test_the_script_sees_and_sets_its_own_handler(theirs: list[Any]) -> None:
    def first(*args: Any) -> None:
        theirs.append("first")

    def second(*args: Any) -> None:
        theirs.append("second")

    heard: list[int] = []
    signal.signal(NUMBER, first)
    undo = hear_signal(NUMBER, lambda: heard.append(1))
    assert undo is not None
    assert signal.getsignal(NUMBER) is first
    os.kill(os.getpid(), NUMBER)
    assert signal.signal(NUMBER, second) is first
    assert signal.getsignal(NUMBER) is second
    os.kill(os.getpid(), NUMBER)
    assert signal.signal(NUMBER, signal.SIG_IGN) is second
    os.kill(os.getpid(), NUMBER)
    assert signal.signal(NUMBER, second) is signal.SIG_IGN
    undo()
    assert (theirs, len(heard)) == (["first", "second"], 2)
    assert signal.getsignal(NUMBER) is second
    assert installed_now() == []


def test_handlers_get_the_frame_that_was_interrupted(theirs: list[Any]) -> None:
    signal.signal(NUMBER, lambda number, frame: theirs.append((number, frame)))
    undo = hear_signal(NUMBER, lambda: None)
    assert undo is not None
    os.kill(os.getpid(), NUMBER)
    time.sleep(0)
    undo()
    ((number, frame),) = theirs
    assert (number, frame.f_code.co_name) == (NUMBER, "test_handlers_get_the_frame_that_was_interrupted")


def test_two_signals_keep_their_order(theirs: list[Any]) -> None:
    for number in (NUMBER, signal.SIGUSR2):
        signal.signal(number, lambda number, frame: theirs.append(number))
    undo = hear_signal(NUMBER, lambda: time.sleep(0.05))
    assert undo is not None
    os.kill(os.getpid(), NUMBER)
    os.kill(os.getpid(), signal.SIGUSR2)
    undo()
    assert theirs == [NUMBER, signal.SIGUSR2]


def test_a_listener_that_waits_for_the_main_thread_does_not_stop_it(
    theirs: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stepscope.events.signals.HEARING_S", 0.05)
    lock, done = threading.Lock(), threading.Event()
    signal.signal(NUMBER, lambda *args: theirs.append("called"))

    def listener() -> None:
        with lock:
            done.set()

    undo = hear_signal(NUMBER, listener)
    assert undo is not None
    with lock:
        os.kill(os.getpid(), NUMBER)
        assert theirs == ["called"]
    assert done.wait(30)
    undo()
    for thread in threading.enumerate():
        if thread.name == "stepscope-signal":
            thread.join(30)


def test_errors_of_signal_stay_errors(theirs: list[Any]) -> None:
    undo = hear_signal(signal.SIGTERM, lambda: None)
    assert undo is not None
    with pytest.raises(TypeError):
        signal.signal(signal.SIGTERM, "no handler")  # type: ignore[arg-type]
    failed: list[str] = []

    def elsewhere() -> None:
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        except ValueError as error:
            failed.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    undo()
    assert len(failed) == 1


def test_a_signal_for_a_mark_leaves_the_process_alive(theirs: list[Any]) -> None:
    marks: list[int] = []
    undo = hear_signal(NUMBER, lambda: marks.append(1), passes_on=False)
    assert undo is not None
    assert signal.getsignal(NUMBER) is signal.SIG_DFL
    os.kill(os.getpid(), NUMBER)
    signal.signal(NUMBER, lambda *args: theirs.append("theirs"))
    os.kill(os.getpid(), NUMBER)
    undo()
    assert (marks, theirs) == ([1], ["theirs"])
    assert hear_signal(NUMBER, lambda: None, passes_on=False) is None, "the script has a use for it"


SCRIPTS = {
    "ends": ("os.kill(os.getpid(), signal.SIGTERM); print('never')", -signal.SIGTERM, "heard\n"),
    "ignored": (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); os.kill(os.getpid(), signal.SIGTERM); print('lives')",
        0,
        "lives\n",
    ),
    "handled": (
        "signal.signal(signal.SIGTERM, lambda *a: sys.exit(9)); os.kill(os.getpid(), signal.SIGTERM)",
        9,
        "heard\n",
    ),
    "forked": (
        "child = os.fork()\n"
        "if child == 0:\n"
        "    print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, signal.signal.__module__, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGTERM); print('never', flush=True)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))",
        0,
        "True signal\n-15\n",
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_process_ends_as_ever(name: str) -> None:
    code, status, out = SCRIPTS[name]
    start = """
        import os, signal, sys
        from stepscope.events.signals import hear_signal
        hear_signal(signal.SIGTERM, lambda: print("heard", flush=True))
    """
    script = textwrap.dedent(start) + code
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (status, out), done.stderr


STUCK = """
import ctypes, os, signal, threading
from stepscope.events.signals import hear_signal

hear_signal(signal.SIGTERM, lambda: print("heard", flush=True))
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
mutex = ctypes.create_string_buffer(64)
for _ in range(2):  # the second waits for ever, without the GIL, and is not interrupted by signals: as gloo waits
    ctypes.CDLL(None).pthread_mutex_lock(mutex)
"""


def test_a_process_that_hangs_in_c_ends_and_is_heard() -> None:
    done = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "heard\n"), done.stderr


STUCK_AT_CTRL_C = """
import ctypes, os, signal, threading, time
from stepscope.events import signals

signals.STUCK_S = 0.5
signals.hear_stuck_interrupt(lambda: print("stuck", flush=True))
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
"""


@pytest.mark.parametrize(
    ("waits", "said"),
    [
        ("ctypes.CDLL(None).usleep(900_000); ctypes.CDLL(None).usleep(900_000)", ""),  # the first is cut short
        ("time.sleep(10)", ""),
        ("while True: pass", ""),
        (
            "mutex = ctypes.create_string_buffer(64); threading.Timer(3, lambda: os._exit(7)).start()\n"
            "[ctypes.CDLL(None).pthread_mutex_lock(mutex) for _ in range(2)]",
            "stuck\n",
        ),
    ],
)
def test_only_a_main_thread_that_stands_still_after_ctrl_c_is_stuck(waits: str, said: str) -> None:
    script = f"{STUCK_AT_CTRL_C}\n{waits}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == said, done.stderr
    assert done.returncode == (7 if said else -signal.SIGINT), done.stderr


def test_hearing_leaves_the_wakeup_file_of_a_script_alone() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    undo = hear_signal(NUMBER, lambda: None)
    assert undo is not None
    undo()
    assert signal.set_wakeup_fd(-1) == write
    os.close(read)
    os.close(write)
