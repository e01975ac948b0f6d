"""Sees that a job of several ranks makes no progress, asks all of them what they do, and says it.

A thread looks at this rank once a second. When nothing has moved for several times the usual step, it calls all ranks
through the store of their process group (`rank_channel.py`). Each answers with the Python stack of its main thread. The
rank that called waits for the answers and keeps them for `stepscope show`. It reports a hang, once for the job, when
the ranks cannot go on or have waited for too long. The job itself is never ended, unless that was asked for.
`stepscope stacks` uses the same call.
"""

from __future__ import annotations

import os
import statistics
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from stepscope.common import clocks
from stepscope.diagnose.fatal import fatal_file
from stepscope.diagnose.hangs import ANSWERED, ASKED, FILE, FOLDER, wait_in_vain
from stepscope.events.fatal_errors import FatalErrors
from stepscope.launch.flight_recorder import read_recorder, read_sent
from stepscope.launch.rank_channel import Channel, open_channel
from stepscope.launch.rank_state import crash_frames, main_stack, own_place, state_of
from stepscope.records.hang import Hang, RankState
from stepscope.runs.format.layout import write_file
from stepscope.runs.format.writer_identity import host_name
from stepscope.track import ranks
from stepscope.track.background import Ticker

if TYPE_CHECKING:
    from stepscope.record.observers.watcher import Watcher

__all__ = ["HangWatch"]

LOOK_S = 1.0
QUIET_S = 20.0
"""The least time without progress that counts; after it, ranks are asked what they do."""
STEPS = 10
"""How many times the longest of the recent steps, if that is more."""
BEFORE_STEPS = 15
"""How many times longer before the first step, when one rank may prepare the data while the others wait. A hang that is
proved needs no patience.
"""
BUSY_FACTOR = 6
"""So much longer while a rank computes: it may save, evaluate or prepare."""
ANSWER_S = 4.0
"""How long the one that asks waits for answers."""
AGAIN_S = 20.0
"""At most: after this the ranks are asked again, also where the one that did has gone."""
_BUSY_SHARE = 0.2
FATAL_RANKS = 64
"""Up to this many ranks, each has a file for the stack of a fatal error in C++ in the run's folder."""


class HangWatch:
    """One rank's look at itself and at the others, from `begin` to `end`."""

    def __init__(
        self,
        watcher: Callable[[], Watcher | None],
        folder: Callable[[], Path | None],
        tell: Callable[[Hang], None],
        meet: Callable[[Channel], bool] = lambda channel: True,
        open: Callable[[], Channel | None] = open_channel,
        stands_still: Callable[[], None] = lambda: None,
    ) -> None:
        self._watcher, self._folder, self._tell = watcher, folder, tell
        self._meet: Callable[[Channel], bool] | None = meet
        """Called until it answers that all is known."""
        self._open = open
        self._stands_still = stands_still
        """Called once in each stretch without progress, while this rank does not compute."""
        self._is_kept = False
        self._ticker = Ticker()
        self._channel: Channel | None = None
        self._progress: tuple[int, ...] = ()
        self._moved = self._stepped = clocks.monotonic()
        self._steps: deque[float] = deque(maxlen=50)
        self._step = 0
        self._stack: tuple[tuple[int, int], ...] = ()
        self._cpu_s = clocks.process_time()
        self._is_busy = False
        self._answered = b""
        self._asked: tuple[str, float, Callable[[Channel, tuple[RankState, ...]], None]] | None = None
        """The call of this rank that waits for answers, since when, and who wants to know."""
        self._episode = 0
        self._turn: tuple[int, int] | None = None
        self._seen: Hang | None = None
        """What this rank has found out last, while nothing moves."""
        self._fatal = FatalErrors()
        self._quiet_s = float(os.environ.get("STEPSCOPE_HANG_S") or QUIET_S)

    def begin(self, compare: Callable[[], None] = lambda: None) -> None:
        self._ticker.every(LOOK_S, self._look, "watching for a hang")
        self._ticker.every(LOOK_S, compare, "comparing ranks")
        self._ticker.start()

    def end(self, error: BaseException | None) -> None:
        """The script is over: let the others know, so that nobody takes our silence for a hang."""
        self._ticker.close()
        self._fatal.end()
        channel = self._channel or self._open()
        if channel is not None:
            if self._meet is not None:  # a short script is over before the first look
                self._meet(channel)
            watcher = self._watcher()
            is_well = error is None or (isinstance(error, SystemExit) and not error.code)
            said = "" if is_well else f"{type(error).__name__}: {error}".splitlines()[0][:200]
            file, line = own_place(crash_frames(error if isinstance(error, SystemExit) else None))
            ended = RankState(
                rank=channel.rank,
                host=host_name(),
                pid=os.getpid(),
                time=clocks.time(),
                kind="ended",
                file=file,
                line=line,
                step=0 if watcher is None else watcher.step,
                batches=0 if watcher is None else watcher.batches,
                calls=() if watcher is None else tuple(watcher.collectives.recent),
                sent=read_sent(),
                error=said,
            )
            channel.put(f"ended/{channel.rank}", msgspec.json.encode(ended))

    # -- once a second, on a thread ---------------------------------------------------------------------------------

    def _look(self) -> None:
        self._requests()
        if self._channel is None:
            self._channel = self._open()
            if self._channel is None:
                return
            self._moved = self._stepped = clocks.monotonic()
        folder = self._folder()
        if folder is not None and self._channel.size <= FATAL_RANKS:
            self._fatal.begin(fatal_file(folder, self._channel.rank))
        self._notice_progress()
        if not self._channel.is_open:
            return
        if self._meet is not None and self._meet(self._channel):
            self._meet = None
        self._answer(self._channel)
        if self.idle_s > self._first_look_s and not (self._is_kept or self._is_busy):
            self._is_kept = True
            self._stands_still()
        if self._asked is not None:
            self._hear(self._channel)
        elif (self._seen is None or not self._seen.is_sure) and self.idle_s > self._first_look_s:
            self._ask(self._channel)

    @property
    def idle_s(self) -> float:
        return clocks.monotonic() - self._moved

    @property
    def _first_look_s(self) -> float:
        return max(self._quiet_s, STEPS * max(self._steps, default=0.0))

    def _patience_s(self, is_busy: bool) -> float:
        """How long ranks may wait for one that may still come."""
        if not self._steps:
            return BEFORE_STEPS * self._quiet_s
        return self._first_look_s * (BUSY_FACTOR if is_busy else 1)

    def _notice_progress(self) -> None:
        now, watcher = clocks.monotonic(), self._watcher()
        if watcher is None:
            return
        progress = (watcher.step, watcher.batches, watcher.steps.backward_count, watcher.collectives.count)
        stack = tuple((id(frame.f_code), frame.f_lasti) for frame in main_stack())
        cpu_s = clocks.process_time()
        waits = watcher.collectives.now is not None
        self._is_busy = not waits and (stack != self._stack or cpu_s - self._cpu_s > _BUSY_SHARE * LOOK_S)
        self._stack, self._cpu_s = stack, cpu_s
        if progress == self._progress:
            return
        if watcher.step > self._step:
            steps = watcher.step - self._step
            if self._step or steps > 1:  # the time of the first alone is mostly preparation
                self._steps.append((now - self._stepped) / steps)
            self._step, self._stepped = watcher.step, now
        self._progress, self._moved, self._is_kept = progress, now, False
        if self._seen is not None:
            self._keep(msgspec.structs.replace(self._seen, resumed=clocks.time()))
            self._seen = None
            if self._channel is not None:
                self._channel.add("episode")

    # -- asking and answering ---------------------------------------------------------------------------------------

    def _ask(self, channel: Channel) -> None:
        """Call all ranks, if this one is the first to see that the job is stuck."""
        self._episode = channel.read("episode")
        turn = (self._episode, int((self.idle_s - self._first_look_s) // min(AGAIN_S, self._quiet_s)))
        if turn == self._turn or channel.get(f"told/{self._episode}") is not None:
            return
        self._turn = turn
        if channel.add(f"asks/{turn[0]}/{turn[1]}") == 1:
            self._call(channel, f"{turn[0]}/{turn[1]}", self._found)

    def _call(self, channel: Channel, name: str, then: Callable[[Channel, tuple[RankState, ...]], None]) -> None:
        self._asked = (name, clocks.monotonic(), then)
        channel.put("call", name.encode())
        self._answer(channel)

    def _answer(self, channel: Channel) -> None:
        call = channel.get("call")
        if call is not None and call != self._answered:
            self._answered = call
            channel.put(f"state/{call.decode()}/{channel.rank}", msgspec.json.encode(self._own_state(channel.rank)))

    def _own_state(self, rank: int) -> RankState:
        recorded = read_recorder()
        return state_of(
            rank,
            self._watcher(),
            main_stack(),
            idle_s=round(self.idle_s, 1),
            is_busy=self._is_busy,
            flights=recorded.flights,
            enqueued=recorded.enqueued,
            sent=read_sent(),
        )

    def _hear(self, channel: Channel) -> None:
        assert self._asked is not None
        call, since, then = self._asked
        states = [self._state(channel, call, rank) for rank in range(channel.size)]
        if any(state is None for state in states) and clocks.monotonic() - since < ANSWER_S:
            return
        self._asked = None
        then(channel, tuple(state or RankState(rank=rank, kind="silent") for rank, state in enumerate(states)))

    def _found(self, channel: Channel, states: tuple[RankState, ...]) -> None:
        usual_s = statistics.median(self._steps) if self._steps else 0.0
        self._seen = Hang(
            time=clocks.time(),
            ranks=states,
            idle_s=round(self.idle_s, 1),
            usual_s=round(usual_s, 3),
            is_sure=self._is_sure(states),
        )
        self._keep(self._seen)
        if self._seen.is_sure:
            channel.put(f"told/{self._episode}", b"1")
            self._tell(self._seen)

    def _requests(self) -> None:
        """`stepscope stacks` leaves a file in the run's folder; whoever takes it away answers."""
        folder = self._folder()
        if folder is None or self._asked is not None:
            return
        try:
            asked = [name for name in os.listdir(folder / FOLDER) if name.endswith(ASKED)]
            for name in asked[:1]:
                os.unlink(folder / FOLDER / name)
        except OSError:
            return
        for name in asked[:1]:
            answer = folder / FOLDER / f"{name.removesuffix(ASKED)}{ANSWERED}"
            channel = self._channel
            if channel is None or not channel.is_open:
                _write(answer, (self._own_state(ranks.place().rank),))
            else:
                self._call(channel, name, lambda channel, found, answer=answer: _write(answer, found))  # type: ignore[misc]

    def _state(self, channel: Channel, call: str, rank: int) -> RankState | None:
        said = channel.get(f"ended/{rank}") or channel.get(f"state/{call}/{rank}")
        return None if said is None else msgspec.json.decode(said, type=RankState)

    def _is_sure(self, states: tuple[RankState, ...]) -> bool:
        """Whether it is a hang: a rank that computes holds the others up, which is not a hang until it takes very
        long."""
        is_busy = any(one.is_busy and one.kind not in ("ended", "silent") for one in states)
        return self.idle_s > self._patience_s(is_busy) or wait_in_vain(states)

    def _keep(self, hang: Hang) -> None:
        folder = self._folder()
        if folder is not None:
            (folder / FOLDER).mkdir(exist_ok=True)
            write_file(folder / FOLDER / FILE, msgspec.json.encode(hang))


def _write(path: Path, found: tuple[RankState, ...]) -> None:
    write_file(path, msgspec.json.encode(Hang(time=clocks.time(), ranks=found)))
