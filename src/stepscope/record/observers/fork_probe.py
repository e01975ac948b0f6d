"""Trying something out in a forked process: what it does to models, generators and files is gone with it.

That is how a probe can call the user's model with altered input during training without changing one bit of it. Only
where forking is sound: Linux, no accelerator in use, no process group. The caller waits for the answer, but not long.
"""

from __future__ import annotations

import io
import json
import os
import select
import signal
import stat
import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch

from stepscope.common import clocks
from stepscope.common.own_time import waited_s

_MOST_BYTES = 1 << 20


def can_fork() -> bool:
    """Whether a fork of this process can run torch on the CPU."""
    if sys.platform != "linux" or not hasattr(os, "fork"):
        return False
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return False
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return False
    return sys.version_info < (3, 12) or not (_is_profiled() or _would_warn())


def _is_profiled() -> bool:
    """A profiler such as cProfile hears every thread from Python 3.12 on, also ours that pause for a fork."""
    monitoring = getattr(sys, "monitoring", None)
    return monitoring is not None and monitoring.get_tool(monitoring.PROFILER_ID) is not None


def _would_warn() -> bool:
    """Python warns of forks beside threads (ours, or torch's); if the user would see it, we do not fork."""
    for action, message, category, module, line in warnings.filters:
        if line or (message is not None and hasattr(message, "match") and not message.match("This process")):
            continue
        if module is not None and not (hasattr(module, "match") and module.match(__name__)):
            continue
        if issubclass(DeprecationWarning, category):
            return action != "ignore"
    return True


def shares_files() -> bool:
    """Whether a fork could read on in a file or a connection of this process: both have one position between them."""
    import fcntl  # not on Windows, where nothing forks

    printed = {_file_of(1), _file_of(2)}
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        try:
            mode, flags = os.fstat(number).st_mode, fcntl.fcntl(number, fcntl.F_GETFL)
        except OSError:  # the listing itself
            continue
        is_log = flags & os.O_ACCMODE == os.O_WRONLY or flags & os.O_APPEND or _file_of(number) in printed
        if stat.S_ISSOCK(mode) or (stat.S_ISREG(mode) and not is_log):
            return True
    return False


def _file_of(number: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(number)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def in_a_fork(work: Callable[[], dict[str, Any]], seconds: float, *, sealed: bool = False) -> dict[str, Any] | None:
    """What `work` gives, as plain data; None when it fails, takes too long or has no result.

    A `sealed` fork cannot write, delete, connect or start anything: for code of the user's that may do so.

    Time in which the fork waits for a processor does not count, so a busy machine gives the same answer as a quiet one.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _be_the_child(work, writing, sealed)
    os.close(writing)
    try:
        answer = _read(reading, child, seconds)
    finally:
        os.close(reading)
        _end(child)
    try:
        found = json.loads(answer) if answer else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _be_the_child(work: Callable[[], dict[str, Any]], writing: int, sealed: bool) -> None:
    """Nothing may leave this function: the script must not go on in two processes."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        sys.stdout = sys.stderr = io.StringIO()
        torch.set_num_threads(1)
        if sealed:
            from stepscope.events.fork_seal import seal

            seal(writing)
        os.write(writing, json.dumps(work()).encode()[:_MOST_BYTES])
    finally:
        os._exit(0)


def _read(reading: int, child: int, seconds: float) -> bytes:
    """All that the child writes until it closes its end; nothing if its time is up before."""
    answer, began = b"", clocks.perf_counter()
    while True:
        left = began + seconds + waited_s(child) - clocks.perf_counter()
        ready, _, _ = select.select([reading], [], [], max(0.0, left))
        if ready:
            part = os.read(reading, 65536)
            if not part:
                return answer
            answer += part
        elif began + seconds + waited_s(child) <= clocks.perf_counter():
            return b""


def _end(child: int) -> None:
    try:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    except (ProcessLookupError, ChildProcessError):
        pass  # it is gone already, or the script reaps its children itself
