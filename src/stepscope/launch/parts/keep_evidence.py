"""What is kept of the watch in the run folder: the evidence, and a capsule of a step that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope import fence
from stepscope.common.units import bytes_text
from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.part import Ended
from stepscope.launch.parts.watch import Companion
from stepscope.launch.rank_notes import is_lost_connection
from stepscope.launch.session_context import Around

if TYPE_CHECKING:
    from stepscope.diagnose.engine import Engine
    from stepscope.launch.capsule.keeper import Keeper, Kept
    from stepscope.launch.evidence_file import EvidenceFile, ForProcess
    from stepscope.record.observers import Watcher


class KeptEvidence(Companion):
    """What was seen, so that rules can be asked again."""

    ending = "keeping what was seen"

    def __init__(self, around: Around) -> None:
        self._around = around
        self._file: EvidenceFile | None = None

    def watch_begins(self, watcher: Watcher, engine: Engine) -> None:
        if self._around.keeps:
            from stepscope.launch.evidence_file import EvidenceFile

            around = self._around
            self._file = EvidenceFile(engine.evidence, around.run_folder, around.rank, around.script.name)
            watcher.on_moment = self._file.after(engine.moment)

    def for_process(self) -> ForProcess | None:
        """Where a process that the script starts is to keep its own."""
        return None if self._file is None else self._file.for_process()

    def stands_still(self) -> None:
        """The script makes no progress: somebody may soon end it by force."""
        if self._file is not None:
            self._file.write_beside()

    def asked_to_end(self) -> None:
        """SIGTERM has come, and the main thread waits for us or is stuck."""
        if self._file is not None:
            self._file.write_beside(at_once=True)

    def end(self, ended: Ended) -> None:
        if self._file is not None:
            self._file.write()


class Capsules(Companion):
    """A step that fails can be repeated."""

    ending = "keeping the failing step"

    def __init__(self, around: Around, logbook: Logbook) -> None:
        self._around, self._logbook = around, logbook
        self._keeper: Keeper | None = None

    def watcher_made(self, watcher: Watcher) -> None:
        if self._around.options.capsule and self._around.keeps:
            fence.call("preparing a capsule", self._prepare, watcher)

    def _prepare(self, watcher: Watcher) -> None:
        from stepscope.launch.capsule.failure import Surroundings
        from stepscope.launch.capsule.keeper import Keeper
        from stepscope.track.session import current

        script, options = self._around.script, self._around.options
        surroundings = Surroundings(
            script=script.path if script.spec is None else script.spec.name,
            is_module=script.spec is not None,
            argv=list(script.argv[1:]),
            rank=self._around.rank,
        )
        keeper = Keeper(watcher, surroundings, run=current, most_bytes=options.capsule_bytes, on_kept=self._say_kept)
        watcher.add(keeper)
        keeper.cadence = self._logbook.cadence
        self._logbook.on_beat.append(keeper.beat)
        self._keeper = keeper

    def _say_kept(self, kept: Kept) -> None:
        run = self._around.tracking.run
        again = f"stepscope replay {'last' if run is None else run.name}"
        size = bytes_text(kept.bytes)
        self._around.reporter.note(f"step {kept.step} is saved ({size}); repeat it with: {again}")

    def end(self, ended: Ended) -> None:
        crash = ended.crash
        if crash is None or self._keeper is None:
            return
        if not (self._around.rank_notes.is_on and is_lost_connection(crash)):
            self._keeper.crashed(crash)
