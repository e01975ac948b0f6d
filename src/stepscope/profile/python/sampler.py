"""The sampling profiler: a thread that looks at the stacks of all others every few milliseconds.

Python lets it look when the running thread gives way. That is at the end of the very call that a thread was in, so a
long call into C counts for the line it is on, whether it lets others run meanwhile or not. Each look is worth the
time since the look before it; the times sum to the wall time of a thread.
"""

from __future__ import annotations

import os
import sys
import threading
from types import CodeType, FrameType

from stepscope import fence
from stepscope.common import clocks
from stepscope.profile.python.files import OURS, THEIRS, kind_of
from stepscope.profile.python.samples import Samples
from stepscope.records.profile import Stack

INTERVAL_S = 0.005
MOST_COST = 0.008
"""The part of the time that looking may take."""
_HANDOVER_S = 30e-6
"""What a look costs the thread that gives way, beside the look itself: two switches between threads."""
MOST_FRAMES = 400
_OUR_THREADS = "stepscope"


class Sampler:
    """Samples all threads of the process from `start` to `stop`. May be started again: times add up.

        sampler = Sampler()
        sampler.start()
        train()
        sampler.stop()
        sampler.result()                    # a Stack

    Keeps no frame and no variable of the program alive, draws no random numbers, and does nothing in a forked child.
    """

    def __init__(self, interval_s: float = INTERVAL_S) -> None:
        self.samples = Samples()
        self._asked_s = interval_s
        self._interval_s = interval_s
        self._thread: threading.Thread | None = None
        self._enough = threading.Event()
        self._pid = os.getpid()
        self._known: dict[int, CodeType] = self.samples.codes
        self._kinds: dict[str, int] = {}

    @property
    def is_on(self) -> bool:
        return self._thread is not None and os.getpid() == self._pid

    def start(self) -> None:
        if self.is_on:
            return
        self._pid = os.getpid()
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stepscope-sampler", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; the thread is gone when this returns."""
        thread, self._thread = self._thread, None
        if thread is None or os.getpid() != self._pid:
            return
        self._enough.set()
        thread.join()

    def result(self, *, id: str = "python-profile", title: str = "Sampled Python call tree") -> Stack:
        """The call tree of what was seen so far."""
        return self.samples.stack(id=id, title=title)

    # -- the thread -----------------------------------------------------------------------------------------------

    @fence.fenced("sampling Python stacks")
    def _run(self) -> None:
        own = threading.get_ident()
        clock, enough = clocks.perf_counter, self._enough
        last = due = clock()
        while True:
            due += self._interval_s  # on a schedule: what a look takes does not make the next one late
            wait = due - clock()
            if wait <= 0:
                due = clock() + self._interval_s
                wait = self._interval_s
            clocks.sleep(wait)  # waking costs the others less than waiting for an Event would
            if enough.is_set():
                return
            began = clock()
            self._look(own, round((began - last) * 1e9))
            last = began
            self._pace(clock() - began)

    def _look(self, own: int, worth_ns: int) -> None:
        samples = self.samples
        samples.looks += 1
        samples.wall_ns += worth_ns
        frames = sys._current_frames()
        frames.pop(own, None)
        for thread in frames.keys() - samples.threads.keys():
            samples.threads[thread] = samples.name_of(thread)
        for thread, frame in frames.items():
            if samples.threads[thread].startswith(_OUR_THREADS):
                continue
            stack = self._stack(frame)
            if stack:
                key = (thread, *stack)
                samples.time_ns[key] = samples.time_ns.get(key, 0) + worth_ns

    def _stack(self, frame: FrameType | None) -> list[int]:
        """(id of the code, place in it) from the innermost frame outwards, in one flat list."""
        found: list[int] = []
        known, kinds, is_theirs = self._known, self._kinds, False
        for _ in range(MOST_FRAMES):
            if frame is None:
                break
            code = frame.f_code
            kind = kinds.get(code.co_filename)
            if kind is None:
                kind = kinds[code.co_filename] = kind_of(code.co_filename)
            if kind == OURS:
                if code.co_name == "run_as_main":  # what is outside the script is Stepscope's
                    break
                if not is_theirs:  # a library called by a hook of Stepscope: its time counts at the hook
                    found.clear()
            else:
                is_theirs = is_theirs or kind == THEIRS
                if id(code) not in known:
                    known[id(code)] = code  # kept, so that no other code gets its id
                found.append(id(code))
                found.append(frame.f_lasti)
            frame = frame.f_back
        return found

    def _pace(self, took_s: float) -> None:
        """Look less often where a look is dear: deep stacks, many threads, a slow machine."""
        self.samples.cost_ns += round((took_s + _HANDOVER_S) * 1e9)
        if self.samples.looks >= 16:
            mean_s = self.samples.cost_ns / self.samples.looks * 1e-9
            self._interval_s = max(self._asked_s, mean_s / MOST_COST)
