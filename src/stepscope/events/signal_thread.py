"""Hears of signals on a thread of its own, also while the main thread is inside C++ and runs no handler.

Python runs handlers on the main thread, between two bytecodes: a rank that hangs in a collective never gets there. But
the C handler writes the number of the signal to a file at once (`signal.set_wakeup_fd`), and a thread can read it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

from stepscope import fence
from stepscope.events.fork_pause import PAUSE_S, pause_at_forks


class SignalThread:
    """Calls `arrived` with the number of every signal, from `begin` to `end`."""

    def __init__(self, arrived: Callable[[int], None]) -> None:
        self._arrived = arrived
        self._pipe: tuple[int, int] | None = None
        self._thread: threading.Thread | None = None
        pause_at_forks(self)

    def begin(self) -> None:
        """Does nothing where the script reads signals in this way itself. On the main thread only."""
        if os.name == "nt" or self._pipe is not None:
            return
        read, write = os.pipe()
        os.set_blocking(write, False)
        theirs = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        if theirs != -1:
            signal.set_wakeup_fd(theirs)
            os.close(read)
            os.close(write)
            return
        self._pipe = (read, write)
        self._start()

    def _start(self) -> None:
        assert self._pipe is not None
        read = self._pipe[0]
        self._thread = threading.Thread(target=self._listen, args=(read,), name="stepscope-signals", daemon=True)
        self._thread.start()

    def _listen(self, pipe: int) -> None:
        while True:
            for number in os.read(pipe, 64):
                if number == 0:
                    return
                fence.call("hearing a signal", self._arrived, number)

    def end(self) -> None:
        """Stop the thread and give the way of hearing back."""
        if self._pipe is None:
            return
        self.let_go()
        read, write = self._pipe
        self._pipe = None
        os.write(write, b"\0")
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(5.0)
            if self._thread.is_alive():
                return  # it is busy with a signal; its file stays open for it
        os.close(read)
        os.close(write)

    def let_go(self) -> None:
        """Have signals of this process write nothing to the pipe; what the script has set since stays."""
        if self._pipe is None or threading.current_thread() is not threading.main_thread():
            return
        found = signal.set_wakeup_fd(-1)
        if found not in (-1, self._pipe[1]):
            signal.set_wakeup_fd(found)

    def take_again(self) -> None:
        """After `let_go`, unless the script uses it now."""
        if self._pipe is None or threading.current_thread() is not threading.main_thread():
            return
        found = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        if found not in (-1, self._pipe[1]):
            signal.set_wakeup_fd(found)

    def pause(self) -> None:
        """Stop the thread for a fork."""
        thread = self._thread
        if self._pipe is None or thread is None or thread is threading.current_thread():
            return
        os.write(self._pipe[1], b"\0")
        thread.join(PAUSE_S)
        self._thread = None

    def resume(self) -> None:
        if self._pipe is not None and self._thread is None:
            self._start()

    def forget(self) -> None:
        """In a forked child: the thread is not here, and the pipe is the parent's."""
        self.let_go()
        if self._pipe is not None:
            for end in self._pipe:
                os.close(end)
        self._pipe = self._thread = None


def act_by_default(number: int) -> None:
    """End this process as the signal does by default, from any thread: `signal.signal` works on the main one only."""
    import ctypes

    ctypes.pythonapi.PyOS_setsig(number, 0)  # 0 is SIG_DFL
    os.kill(os.getpid(), number)
