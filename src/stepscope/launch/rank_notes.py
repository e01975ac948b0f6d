"""Ranks that a launcher has started (torchrun, Slurm): each is a `stepscope run` of its own, and rank 0 compares them.

They meet in a private folder for temporary files, named after what all ranks of the job know.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from stepscope.records import Event, Finding, FindingEvent
from stepscope.runs.format.writer_identity import process_age_s
from stepscope.track import ranks

if TYPE_CHECKING:
    from stepscope.diagnose.engine import Engine
    from stepscope.record.observers.watcher import Watcher

__all__ = ["RankNotes", "adopt_found", "claims", "finding_key", "is_lost_connection"]

_LOST = re.compile(
    r"connection (closed|reset|refused) by|connection reset|broken pipe|gloo/transport|socket timeout|store"
    r"( connection)?.* (closed|timed out)|remote process (has )?exited|watchdog|nccl (communicator was aborted|error)",
    re.IGNORECASE,
)


def claims(folder: str | Path, what: str) -> bool:
    """Whether this is the first process of all that meet in the folder to ask for this: one of them is to tell it."""
    path = os.path.join(folder, f"{hashlib.sha256(what.encode()).hexdigest()[:16]}.told")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return _is_of_an_earlier_job(path)
    except OSError:  # the folder has gone: rank 0 is at its end
        return False
    return True


def _is_of_an_earlier_job(path: str) -> bool:
    """A job under the same address that was killed has left its folder."""
    try:
        old = time.time() - os.stat(path).st_mtime > process_age_s() + ranks.FRESH_S
        if old:
            os.utime(path)
    except OSError:
        return False
    return old


def finding_key(finding: Finding) -> str:
    """The same on all ranks that find the same."""
    return f"{finding.rule} {finding.file} {finding.line}"


def adopt_found(engine: Engine, facts: list[Any]) -> None:
    """Tell what another rank alone has found; the rank is named, since its data or its part of the model differs."""
    from stepscope.record.observers.ranks import Began, Found

    rank = next((fact.rank for fact in facts if isinstance(fact, Began)), None)
    for fact in facts:
        if isinstance(fact, Found):
            finding = fact.finding
            named = finding.message if rank is None else f"{finding.message} (on rank {rank})"
            engine.adopt(replace(finding, message=named))


def is_lost_connection(error: BaseException) -> bool:
    """Whether a rank fails only because another one has gone: that one knows the reason.

    >>> is_lost_connection(RuntimeError("[gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:8172"))
    True
    """
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return bool(kinds & {"DistBackendError", "DistNetworkError"}) or (
        isinstance(error, RuntimeError) and _LOST.search(str(error)) is not None
    )


class RankNotes:
    """This rank's notes, and rank 0's reading of all of them."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._is_first = False
        self._tells = False
        self._watcher: Watcher | None = None

    def begin(self, watcher: Watcher) -> None:
        """Have this rank write down what others compare; nothing is done for a process on its own."""
        from stepscope.record.observers.ranks import Notes, is_private

        self._watcher = watcher
        place = ranks.place()
        if place.world_size < 2:
            return
        name = hashlib.sha256(f"{place.job} restart={place.restart}".encode()).hexdigest()[:24]
        folder = Path(tempfile.gettempdir()) / f"stepscope-ranks-{name}"
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if not is_private(folder):  # somebody else's: their files are not for us, nor ours for them
                return
        watcher.distributed.notes = Notes(str(folder))
        self._folder, self._is_first = folder, place.rank == 0

    def lead(self, folder: str) -> None:
        """This process starts the other ranks itself, which write to this folder; it is rank 0."""
        from stepscope.record.observers.ranks import Notes

        if self._folder is None and self._watcher is not None:
            self._watcher.distributed.notes = Notes(folder)
            self._folder, self._is_first = Path(folder), True

    @property
    def is_on(self) -> bool:
        """Whether there are other ranks."""
        return self._folder is not None

    def claims(self, what: str) -> bool:
        """Whether this rank is the first to ask for this; always, for a process on its own."""
        return self._folder is None or claims(self._folder, what)

    def tells_of_crash(self) -> bool:
        """Whether this rank failed first, and so tells of it; rank 0 need not say again what it found."""
        self._tells = self.claims("crash")
        return self._tells

    def once(self, record: Callable[[Event], None]) -> Callable[[Event], None]:
        """What is found by several ranks is recorded by the first."""

        def recorded(event: Event) -> None:
            if not isinstance(event, FindingEvent) or self.claims(finding_key(event.finding)):
                record(event)

        return recorded

    def found(self, finding: Finding) -> None:
        """Let rank 0 know what this rank has found."""
        if self._folder is not None and not self._is_first and not self._tells and self._watcher is not None:
            from stepscope.record.observers.ranks import Found

            if self._watcher.distributed.notes is not None:
                self._watcher.distributed.notes.write(Found(finding))

    def who_failed_first(self) -> str:
        """For a rank that failed because another one did."""
        from stepscope.record.observers.ranks import read_facts, read_ranks

        failed = [one for one in read_ranks(read_facts(self._folder or Path())) if one.ended and one.ended.error]
        failed = [one for one in failed if one.ended and not is_lost_connection(RuntimeError(one.ended.error))]
        if not failed:
            return "another rank has failed; this one lost its connection to it"
        error = str(failed[0].ended.error if failed[0].ended else "").splitlines()[0][:200]
        return f"rank {failed[0].rank} failed first ({error}); rank {ranks.place().rank} lost its connection to it"

    def gather(self, engine: Engine, crash: BaseException | None) -> None:
        """Say how this rank ended; on rank 0, give the engine what all ranks wrote."""
        if self._folder is None or self._watcher is None:
            return
        from stepscope.record.observers.ranks import read_facts, read_ranks

        self._watcher.distributed.ended(crash)
        if self._is_first:
            facts = read_facts(self._folder)
            engine.evidence.ranks.all = read_ranks(facts)
            for of_one in facts:
                adopt_found(engine, of_one)

    def remove(self) -> None:
        """Take the folder away; the other ranks go on writing to files that nobody reads."""
        if self._folder is not None and self._is_first:
            shutil.rmtree(self._folder, ignore_errors=True)
