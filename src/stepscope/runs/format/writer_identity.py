"""The writer's identity: host, boot, process and its start, so that a reader can tell a live writer from a dead one.

A pid alone is not enough: pids are reused, and after a reboot another process may have the same one and, on a machine
that counts from boot, even the same start. Host, boot id, pid and start time together identify one process uniquely.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from stepscope.common import clocks

_LINUX_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@lru_cache(maxsize=1)
def host_name() -> str:
    """The machine's name; "unknown" if it has none."""
    return platform.node() or "unknown"


@lru_cache(maxsize=1)
def boot_id() -> str:
    """A text that differs after each boot; "" if unknown.

    Linux and macOS give a random id; elsewhere it is the time of boot, rounded because it is computed from two clocks
    and wobbles by a second or so.
    """
    try:
        return _LINUX_BOOT_ID.read_text().strip()
    except OSError:
        pass
    if sys.platform == "darwin":
        session = _sysctl("kern.bootsessionuuid")
        if session:
            return session
    import psutil

    try:
        return f"boot-{round(psutil.boot_time() / 10)}"
    except (OSError, psutil.Error, RuntimeError):
        return ""


def _sysctl(name: str) -> str:
    try:
        done = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, timeout=2, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def process_started(pid: int | None = None) -> float:
    """When a process started, in unix seconds like psutil's `create_time`; 0.0 if it is gone or inaccessible."""
    if pid is None:
        pid = os.getpid()
    try:
        return _started_from_proc(pid)
    except (OSError, ValueError, IndexError):
        pass
    import psutil

    try:
        return float(psutil.Process(pid).create_time())
    except (psutil.Error, OSError):
        return 0.0


def process_age_s() -> float:
    """How long ago this process started: to a hundredth of a second on Linux, where boot times are whole seconds."""
    try:
        uptime = float(Path("/proc/uptime").read_text().split()[0])
        return max(0.0, uptime - (_started_from_proc(os.getpid()) - _boot_time()))
    except (OSError, ValueError, IndexError):
        return max(0.0, clocks.time() - (process_started() or clocks.time()))


def _started_from_proc(pid: int) -> float:
    """The same number as psutil's, without importing it: clock ticks since boot plus the time of boot."""
    if sys.platform == "win32":
        raise OSError("no /proc")
    stat = Path(f"/proc/{pid}/stat").read_text()
    # The command may contain spaces and parentheses; the fields follow its last closing parenthesis.
    ticks = float(stat.rpartition(")")[2].split()[19])
    return _boot_time() + ticks / os.sysconf("SC_CLK_TCK")


@lru_cache(maxsize=1)
def _boot_time() -> float:
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith("btime "):
            return float(line.split()[1])
    raise ValueError("/proc/stat has no btime line")
