"""Ranks that a launcher has started (torchrun, Slurm): each is a `stepscope run` of its own, and rank 0 compares them.

They meet in a private folder for temporary files, named after what all ranks of the job know.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.track import ranks

if TYPE_CHECKING:
    from stepscope.diagnose.engine import Engine
    from stepscope.record.watch.watcher import Watcher

__all__ = ["RankNotes"]


class RankNotes:
    """This rank's notes, and rank 0's reading of all of them."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._is_first = False
        self._watcher: Watcher | None = None

    def begin(self, watcher: Watcher) -> None:
        """Have this rank write down what others compare; nothing is done for a process on its own."""
        from stepscope.record.watch.ranks import Notes, is_private

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
        self._folder, self._is_first, self._watcher = folder, place.rank == 0, watcher

    def gather(self, engine: Engine, crash: BaseException | None) -> None:
        """Say how this rank ended; on rank 0, give the engine what all ranks wrote."""
        if self._folder is None or self._watcher is None:
            return
        from stepscope.record.watch.ranks import read_facts, read_ranks

        self._watcher.distributed.ended(crash)
        if self._is_first:
            engine.evidence.ranks = read_ranks(read_facts(self._folder))

    def remove(self) -> None:
        """Take the folder away; the other ranks go on writing to files that nobody reads."""
        if self._folder is not None and self._is_first:
            shutil.rmtree(self._folder, ignore_errors=True)
