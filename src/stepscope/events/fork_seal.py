"""What a fork that goes on with the user's script may not do: write, delete, connect, start programs."""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import sys
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_FORBIDDEN = (
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.system"),
    *("os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.kill", "os.chmod", "os.chown", "os.utime", "pty.spawn"),
    *("subprocess.Popen", "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "sqlite3.connect"),
    *(
        "shutil.rmtree",
        "shutil.move",
        "shutil.copyfile",
        "shutil.make_archive",
        "ftplib.connect",
        "signal.pthread_kill",
    ),
)


class LeavesCopy(BaseException):
    """The script would now do something that can be seen outside this process: the trial ends here."""


def seal(answer: int) -> None:
    """From here on nothing leaves this process but what is written to `answer`."""
    import resource

    _close_outlets(answer)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    import torch

    torch.save = torch.jit.save = _stop  # both write files in C++, where no audit event is raised
    sys.addaudithook(_audit)


def stop_after(seconds: float) -> None:
    """Raise `LeavesCopy` after this much CPU time."""
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _close_outlets(answer: int) -> None:
    """Point every descriptor that something could be sent through at nothing."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        if number in (answer, nowhere):
            continue
        try:
            mode, flags = os.fstat(number).st_mode, fcntl.fcntl(number, fcntl.F_GETFL)
        except OSError:
            continue
        if stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode) or flags & os.O_ACCMODE != os.O_RDONLY:
            os.dup2(nowhere, number)


def _stop(*args: Any, **kwargs: Any) -> Any:
    raise LeavesCopy


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if event == "open":
        path, _, flags = args
        if isinstance(flags, int) and flags & _WRITING and path != os.devnull:
            raise LeavesCopy
    elif event in _FORBIDDEN:
        raise LeavesCopy
