"""Many stored runs at a time, on all processors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.diagnose.stored.engine import Diagnosis, diagnose_run

if TYPE_CHECKING:
    from stepscope.diagnose.settings import Settings
    from stepscope.runs.read.folder import RunFolder

_FEW = 24
"""So many are looked at sooner than other processes have started."""
_AT_ONCE = 8


def diagnose_runs(folders: Sequence[RunFolder], settings: Settings) -> Iterator[tuple[RunFolder, Diagnosis]]:
    """Each run and what is wrong with it, in their order."""
    workers = min(os.cpu_count() or 1, _AT_ONCE)
    if len(folders) <= _FEW or workers == 1:
        yield from ((folder, diagnose_run(folder, settings)) for folder in folders)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin) as pool:
        paths = [folder.path for folder in folders]
        yield from zip(folders, pool.map(_diagnose, paths, chunksize=4), strict=True)


_settings: Settings | None = None


def _begin() -> None:
    """In a process of its own: the settings are those of the folder it was started in, as for the first."""
    global _settings
    from stepscope.diagnose.settings import load_settings

    _settings = load_settings()


def _diagnose(path: Path) -> Diagnosis:
    from stepscope.runs.read.folder import open_run

    return diagnose_run(open_run(path), _settings)
