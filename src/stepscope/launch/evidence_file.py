"""What was seen of the training, written into the run folder, so that rules can be asked again at any time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stepscope import fence
from stepscope.common import clocks
from stepscope.common.units import bytes_text
from stepscope.evidence.bundle import FOLDER, MOST_BYTES, Bundle, pack
from stepscope.evidence.registry import tables
from stepscope.runs.format.filesystem import make_folder
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import write_file
from stepscope.track.secrets import mask_text

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence

_MOST_SOURCE = 2 << 20
_SHARE, _LONGEST_S = 0.01, 60.0
"""A run writes it when a stretch of close looking is over, if that takes at most this share of the time since it was
written last (or since the start); after the longest time in any case."""
_RECORD_S = 45e-6
"""CPU seconds that writing takes for one record, about."""
_LAST_S = 0.3
"""A process that is asked to end writes it if that takes no longer than this."""


class ForProcess(NamedTuple):
    """Where a process that the script starts itself keeps what it saw: beside the file of the one that started it."""

    run: str
    stem: str
    """How the names of its file and of that other one begin: readers take them together."""
    script: str


class EvidenceFile:
    """One file for this process, replaced as a whole each time; the last is written when the script ends."""

    def __init__(
        self, evidence: Evidence, folder: Callable[[], Path | None], rank: int, script: str, *, beside: str = ""
    ) -> None:
        self._evidence = evidence
        self._folder = folder
        self._script = script
        self.rank = rank
        """A process may learn its rank late, when it joins a group."""
        self._stem = f"{beside or rank}.{new_run_id()}"
        self._written = clocks.monotonic()
        self._took_s: float | None = None
        self._turn = threading.Lock()

    @classmethod
    def of_process(cls, evidence: Evidence, given: ForProcess) -> EvidenceFile:
        """In a process that the script has started."""
        run = Path(given.run)
        # The run that was open then may have made room for one that the script opens itself.
        return cls(evidence, lambda: run if run.is_dir() else None, 0, given.script, beside=given.stem)

    def for_process(self) -> ForProcess | None:
        """For a process that the script is about to start; None while there is no run."""
        run = self._folder()
        return None if run is None else ForProcess(str(run), self._stem, self._script)

    def after(self, asked: Callable[[str], None]) -> Callable[[str], None]:
        """A moment of the script: first the rules are asked (`Engine.moment`), then it may be time to write."""

        def moment(kind: str) -> None:
            asked(kind)
            if kind in ("window", "alarm") and self._is_due():
                fence.call("keeping what was seen", self.write)

        return moment

    def _is_due(self) -> bool:
        passed = clocks.monotonic() - self._written
        return passed >= _LONGEST_S or passed * _SHARE >= self._expected_s()

    def _expected_s(self) -> float:
        """As long as it took the last time; before that by the calls of modules, each with about two operations."""
        if self._took_s is not None:
            return self._took_s
        visits = self._evidence.tables.get("visits")
        return 3 * _RECORD_S * (0 if visits is None else visits.count)

    def write(self) -> None:
        """Write down everything as it is now."""
        with self._turn:
            began = clocks.thread_time()
            self._write()
            self._written, self._took_s = clocks.monotonic(), clocks.thread_time() - began

    def write_beside(self, *, at_once: bool = False) -> None:
        """From another thread, while the script stands still: in a hang, or when it is asked to end (`at_once`).

        Should the script move after all, its tables may change while they are read; then the next moment writes them.
        """
        if at_once and self._expected_s() > _LAST_S:
            return
        if self._turn.acquire(blocking=False):  # otherwise the script's own thread is writing
            try:
                self._write()
            except RuntimeError as error:
                if "changed size" not in str(error) and "mutated" not in str(error):
                    raise
            finally:
                self._turn.release()

    def _write(self) -> None:
        run = self._folder()
        if run is None:
            return
        known = tables()
        found = {name: value for name, value in self._evidence.tables.items() if name in known}
        bundle = Bundle(found, sources=self._evidence.source.texts(_MOST_SOURCE), rank=self.rank, script=self._script)
        data = pack(bundle, mask_text)
        if len(data) > MOST_BYTES:
            why = f"it takes {bytes_text(len(data))}, and {bytes_text(MOST_BYTES)} is the most that is kept"
            data = pack(Bundle(rank=self.rank, script=self._script, left_out=why))
        make_folder(run / FOLDER, exist_ok=True)
        write_file(run / FOLDER / f"{self._stem}.gz", data)
