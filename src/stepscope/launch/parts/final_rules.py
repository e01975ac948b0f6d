"""The script is over: the rules are asked a last time, and a crash is explained."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from stepscope import fence
from stepscope.launch.child_processes import Children
from stepscope.launch.crash_story import explained_before, tell_story
from stepscope.launch.part import Ended, Part
from stepscope.launch.parts.watch import Watch
from stepscope.launch.parts.watch_companions import Experimenting
from stepscope.launch.rank_notes import is_lost_connection
from stepscope.launch.reporting import ERRORS
from stepscope.launch.session_context import Around

if TYPE_CHECKING:
    from stepscope.diagnose.engine import Engine

__all__ = ["LastLook"]

UNEXPLAINED = "crash.raised"


class LastLook(Part):
    """Hears of other processes first: who crashed may have been one of them."""

    ending = "the last look"

    def __init__(self, around: Around, watch: Watch, children: Children, experimenting: Experimenting) -> None:
        self._around, self._watch = around, watch
        self._children, self._experimenting = children, experimenting

    def end(self, ended: Ended) -> None:
        crash = ended.crash
        if "stepscope.launch.breakpoints" in sys.modules:
            from stepscope.launch.breakpoints import clear_breakpoints

            clear_breakpoints()
        if self._watch.watcher is not None and crash is None:
            self._watch.watcher.stop()
        engine = self._watch.engine
        if engine is None:
            return
        told = fence.call("hearing of other processes", self._hear_others, engine, crash)
        if crash is None:
            self._experimenting.run()  # fewer steps than it waits for
            engine.finish()
        else:
            self._explain(engine, crash, told)

    def _hear_others(self, engine: Engine, crash: BaseException | None) -> str | None:
        """What processes of the script found, and what other ranks did; what there is to say of a crash in one."""
        self._around.rank_notes.gather(engine, crash)
        return self._children.gather(engine)

    def _explain(self, engine: Engine, crash: BaseException, told: str | None) -> None:
        reporter, notes = self._around.reporter, self._around.rank_notes
        if told is not None and type(crash).__module__ == "torch.multiprocessing.spawn":
            reporter.say(told)  # it happened in a process that has explained it
            engine.finish()
        elif notes.is_on and is_lost_connection(crash):
            if not fence.call("explaining the lost connection", self._tell_parted, crash):
                reporter.note(notes.who_failed_first())
            engine.finish()
        else:
            if notes.is_on:
                reporter.speak(notes.tells_of_crash())
            found = fence.call("explaining the crash", engine.crashed, crash) or []
            explained = any(one.severity == "error" and one.rule != UNEXPLAINED for one in found)
            fence.call("showing what was there at the crash", tell_story, engine.evidence, explained, reporter.say)
            earlier = fence.call("looking for an earlier finding", explained_before, engine, found)
            if earlier and not explained:
                reporter.say(earlier, ERRORS)

    def _tell_parted(self, crash: BaseException) -> bool:
        """Say why this rank was left alone, if the others ended well; the first of several that were says it."""
        from stepscope.launch.lost_ranks import left_alone

        around = self._around
        channel = None if around.rank_notes.exchange is None else around.rank_notes.exchange.channel()
        if channel is None:
            return False
        finding = left_alone(channel, self._watch.watcher, around.shared_folder(), crash)
        if finding is None:
            return False
        if around.rank_notes.claims("parted"):
            around.reporter.speak(True)
            around.reporter.take(finding)
        return True
