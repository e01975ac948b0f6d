"""Jobs of several ranks that stop making progress, and questions for stacks from outside."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from stepscope import fence
from stepscope.common import clocks
from stepscope.diagnose.hangs import finding_of, message_of
from stepscope.events.signals import hear_signal
from stepscope.launch.part import Ended, Part
from stepscope.launch.parts.keep_evidence import KeptEvidence
from stepscope.launch.parts.watch import Watch
from stepscope.launch.rank_channel import Channel, open_channel
from stepscope.launch.session_context import Around
from stepscope.records import End
from stepscope.records.hang import Hang

__all__ = ["WatchedForHangs"]

_RUN = "run"
"""Under this key rank 0 names its run."""


class WatchedForHangs(Part):
    """From the import of torch to the end of the script, on every rank."""

    ending = "ending the watch for hangs"

    def __init__(self, around: Around, watch: Watch, evidence: KeptEvidence) -> None:
        from stepscope.launch.hang_watch import HangWatch

        self._around, self._watch, self._evidence = around, watch, evidence
        self._hangs = HangWatch(
            lambda: watch.watcher,
            around.shared_folder,
            self._tell,
            self._meet,
            self._channel,
            evidence.stands_still,
        )
        self._is_on = False
        self._crash: BaseException | None = None
        self._undo: Callable[[], None] | None = None

    def torch_came(self, torch: object) -> None:
        if self._around.options.diagnose and (not self._around.is_dry or self._around.world > 1):
            self._is_on = True
            self._hangs.begin(self._around.rank_notes.look)
            if self._around.world > 1 or self._around.keeps:
                self._undo = hear_signal(signal.SIGTERM, self._asked_to_end)

    def end(self, ended: Ended) -> None:
        if self._is_on:
            self._crash = ended.crash
            self._hangs.end(ended.error)
        if self._around.world == 1:
            self._stop_hearing()

    def close(self, error: BaseException | None) -> None:
        self._stop_hearing()

    def _stop_hearing(self) -> None:
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()

    def _asked_to_end(self) -> None:
        if self._around.world > 1:
            fence.call("asking what ended another rank", self._say_aborted)
        self._evidence.asked_to_end()

    def _say_aborted(self) -> None:
        """A launcher ends all ranks when one has died; what that one was doing is in its file."""
        from stepscope.launch.lost_ranks import aborted_beside

        around = self._around
        around.reporter.release()  # this rank may have been about to say so itself
        channel = self._channel()
        if channel is None:
            return
        finding = aborted_beside(
            channel,
            self._watch.watcher,
            around.shared_folder(),
            self._crash,
            claims=lambda: around.rank_notes.claims("parted"),
        )
        if finding is not None:
            around.reporter.speak(True)
            around.reporter.take(finding)
            run = around.tracking.run
            if run is not None:
                run._writer.flush(timeout=0.5)

    def _channel(self) -> Channel | None:
        """The one over which ranks exchange facts; a process whose script makes the group itself has its own."""
        exchange = self._around.rank_notes.exchange
        return open_channel() if exchange is None else exchange.channel()

    def _meet(self, channel: Channel) -> bool:
        """Rank 0 names its run, which a rank that records apart writes down. Whether all is done."""
        run = self._around.tracking.run
        if run is None:
            return False
        if channel.rank == 0:
            if run.path is not None:
                channel.put(_RUN, run.id.encode())
            return run.path is not None
        if run._joining is None:
            return True
        named = channel.get(_RUN)
        if named is not None:
            run._joining.learn_job(named.decode())
        return named is not None

    def _tell(self, hang: Hang) -> None:
        """Say it, from whichever rank has found out, and record it."""
        reporter = self._around.reporter
        reporter.speak(True)
        try:
            reporter.take(finding_of(hang))
        finally:
            reporter.speak(self._around.rank == 0)
        if self._around.options.kill_hang:
            self._end_job(hang)

    def _end_job(self, hang: Hang) -> None:
        """`--kill-hang`: this rank fails, and its launcher ends the others."""
        run = self._around.tracking.run
        reporter = self._around.reporter
        reporter.note("ending the job, as --kill-hang asks for")
        if run is not None:
            run._writer.event(End(time=clocks.time(), status="failed", exit_code=1, error=message_of(hang)))
            run._writer.flush(timeout=3.0)
        sys.stderr.flush()
        os._exit(1)
