"""A run's process: started in a session of its own, stopped politely, and found again after a restart."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from stepscope.errors import ConfigError
from stepscope.runs.format.writer_identity import process_started

SAME_START_S = 2.0
GRACE_S = (10.0, 5.0)
"""How long after SIGINT comes SIGTERM, and after that SIGKILL."""
_WINDOWS = os.name == "nt"


class Started(Protocol):
    """A child of this process: a `Popen`, or anything that answers like one."""

    def poll(self) -> int | None: ...


class Process:
    """One process and those it starts. Ours, or one that an earlier start of the sweep has left."""

    def __init__(self, pid: int, started: float, popen: Started | None = None) -> None:
        self.pid = pid
        self.started = started
        self._popen = popen
        self._stage = 0
        self._due = 0.0

    @classmethod
    def start(cls, command: Sequence[str], environment: Mapping[str, str], output: Path) -> Process:
        """Start it; what it prints goes to a file. Ctrl-C in our terminal does not reach it: we pass it on."""
        with open(output, "ab") as log:
            try:
                popen = subprocess.Popen(
                    list(command),
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except (OSError, ValueError) as fault:
                raise ConfigError(f"{command[0]!r} cannot be started: {fault}") from None
        return cls(popen.pid, process_started(popen.pid), popen)

    @property
    def is_ours(self) -> bool:
        """Whether we started it, and so will know its exit code."""
        return self._popen is not None

    def poll(self) -> tuple[bool, int | None]:
        """Whether it is over, and its exit code where that can be known."""
        if self._popen is not None:
            code = self._popen.poll()
            return code is not None, code
        return not is_alive(self.pid, self.started), None

    def stop(self, now: float, *, at_once: bool = False) -> None:
        """Ask it to end: SIGINT, as Ctrl-C would; `tick` continues with SIGTERM and SIGKILL."""
        if self._stage == 0 or at_once:
            self._next_stage(now)

    def tick(self, now: float) -> None:
        if self._stage and now >= self._due:
            self._next_stage(now)

    def _next_stage(self, now: float) -> None:
        signals = (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM))
        self._send(signals[min(self._stage, 2)])
        self._due = now + (GRACE_S[self._stage] if self._stage < len(GRACE_S) else 5.0)
        self._stage += 1

    def _send(self, number: int) -> None:
        if not self.is_ours and not is_alive(self.pid, self.started):
            return  # its number may be somebody else's by now, and 0 would be all of us
        try:
            if _WINDOWS:
                os.kill(self.pid, signal.SIGTERM)
            else:
                os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            pass

    def end_rest(self) -> None:
        """It is over; processes it started and left behind (loaders, ranks) go too."""
        if _WINDOWS or not self.is_ours:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.pid, number)
            except (ProcessLookupError, PermissionError):
                return
            time.sleep(0.05)


def is_alive(pid: int, started: float) -> bool:
    """Whether that very process is still there: a number is used again, a number and a start time are not."""
    if pid <= 0:
        return False
    began = process_started(pid)
    if not began or (started and abs(began - started) > SAME_START_S):
        return False
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")  # ended, and nobody has asked how


def find_by_variable(name: str, value: str) -> Process | None:
    """The oldest process that was started with this variable: of a sweep killed before it could note the number."""
    import psutil

    found: list[tuple[float, int]] = []
    for one in psutil.process_iter():
        try:
            if one.environ().get(name) == value:
                found.append((one.create_time(), one.pid))
        except (psutil.Error, OSError):
            continue
    return Process(min(found)[1], min(found)[0]) if found else None
