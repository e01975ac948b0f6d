"""Ranks that a launcher has started (torchrun, Slurm): each is a `stepscope run` of its own, and rank 0 compares them.

They meet in the store of their process group (`rank_exchange.py`). Ranks that a trainer starts from this process write
to a private folder of it instead, as all processes do that a script starts.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from stepscope.evidence.ranks import OpenFile
from stepscope.records import Event, Finding, FindingEvent
from stepscope.track import ranks

if TYPE_CHECKING:
    from stepscope.diagnose.engine import Engine
    from stepscope.launch.rank_exchange import Exchange
    from stepscope.record.observers.watcher import Watcher

_MOST_FILES = 20
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
    except OSError:  # it is there already, or the folder has gone: rank 0 is at its end
        return False
    return True


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
        self.exchange: Exchange | None = None
        """With the other ranks of a launcher."""
        self._folder: Path | None = None
        self._rank = 0
        self._tells = False
        self._watcher: Watcher | None = None
        self._engine: Engine | None = None
        self._before: set[tuple[int, int]] = set()
        self._known: set[str] = set()

    def begin(self, watcher: Watcher, engine: Engine) -> None:
        """Have this rank write down what others compare; nothing is done for a process on its own."""
        self._watcher, self._engine = watcher, engine
        place = ranks.place()
        if place.world_size < 2:
            return
        from stepscope.launch.open_files import files_open
        from stepscope.launch.rank_exchange import Exchange

        self._rank = place.rank
        self._before = files_open()
        self.exchange = watcher.distributed.notes = Exchange(place.rank)

    def lead(self, folder: str) -> None:
        """This process starts the other ranks itself, which write to this folder; it is rank 0."""
        from stepscope.record.observers.ranks import Notes

        if not self.is_on and self._watcher is not None:
            self._watcher.distributed.notes = Notes(folder)
            self._folder = Path(folder)

    @property
    def is_on(self) -> bool:
        """Whether there are other ranks."""
        return self.exchange is not None or self._folder is not None

    def look(self) -> None:
        """Called every second on a thread: pass facts on; on rank 0, give the rules what has come."""
        if self.exchange is None:
            return
        self._note_open_files()
        if self.exchange.look() and self._engine is not None:
            from stepscope.record.observers.ranks import read_ranks

            self._engine.evidence.ranks.all = read_ranks(self.exchange.facts())

    def _note_open_files(self) -> None:
        from stepscope.launch.open_files import files_written
        from stepscope.record.observers.rank_facts import host_of

        if self.exchange is None or self.exchange.channel() is None:
            return
        for path in files_written(self._before):
            if path not in self._known and len(self._known) < _MOST_FILES:
                self._known.add(path)
                self.exchange.write(OpenFile(path, host_of(path)))

    def claims(self, what: str) -> bool:
        """Whether this rank is the first to ask for this; always, for a process on its own."""
        if self.exchange is not None:
            return self.exchange.claims(what)
        return self._folder is None or claims(self._folder, what)

    def tells_of_crash(self) -> bool:
        """Whether this rank failed first, and so reports it; rank 0 need not say again what it found."""
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
        if self.exchange is not None and self._rank != 0 and not self._tells:
            from stepscope.record.observers.ranks import Found

            self.exchange.write(Found(finding))

    def who_failed_first(self) -> str:
        """For a rank that failed because another one did."""
        failed = [] if self.exchange is None else self.exchange.failed()
        failed = [one for one in failed if not is_lost_connection(RuntimeError(one.error))]
        if not failed:
            return "another rank has failed; this one lost its connection to it"
        first = min(failed, key=lambda one: one.time)
        return f"rank {first.rank} failed first ({first.error}); rank {self._rank} lost its connection to it"

    def gather(self, engine: Engine, crash: BaseException | None) -> None:
        """Say how this rank ended; on rank 0, give the engine what all ranks wrote."""
        if not self.is_on or self._watcher is None:
            return
        from stepscope.record.observers.ranks import read_facts, read_ranks

        self._note_open_files()  # a short script is over before the first look
        self._watcher.distributed.ended(crash)
        facts = self.exchange.gather() if self.exchange is not None else read_facts(self._folder or Path())
        if self._rank == 0:
            engine.evidence.ranks.all = read_ranks(facts)
            for of_one in facts:
                adopt_found(engine, of_one)

    def close(self) -> None:
        """The script is over."""
        if self.exchange is not None:
            self.exchange.close()
