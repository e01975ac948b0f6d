"""From a sweep file to a runner that is ready to go: a new sweep, or one that continues."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from random import Random

from stepscope.sweep.commands import command_of
from stepscope.sweep.journal import Journal, folder_of
from stepscope.sweep.past import Past
from stepscope.sweep.pausing import set_paused
from stepscope.sweep.pruning import make_pruner
from stepscope.sweep.runner import Runner
from stepscope.sweep.spec import Sweep
from stepscope.sweep.strategies import make_strategy


def store_of(sweep: Sweep, given: Path | None) -> Path:
    """Where the sweep's runs go: as the command line says, the file, the environment, or the usual folder."""
    chosen = given or sweep.dir or os.environ.get("STEPSCOPE_DIR") or "stepscope-runs"
    return Path(chosen).expanduser().absolute()


def open_sweep(sweep: Sweep, store: Path, *, fresh: bool = False, retry_failed: bool = False) -> Runner:
    """Take the sweep's journal and everything it says; nothing is started yet."""
    make_strategy(sweep, seed=0)  # errors in the sweep are reported before anything is written
    if sweep.metric is not None:
        make_pruner(sweep.early_stop, sweep.metric.goal)
    command_of(sweep, sweep.space.sample(Random(0)))
    journal = Journal(folder_of(store, sweep.name))
    if fresh:
        journal.put_aside()
    journal.open()
    set_paused(journal.folder, False)  # whoever starts it wants it to go on
    past = Past(journal, sweep)
    if retry_failed:
        past.retry_failed()
    seed = next(
        one for one in (sweep.seed, past.history.seed, int.from_bytes(os.urandom(4), "little")) if one is not None
    )
    sweep = replace(sweep, seed=seed)
    runner = Runner(sweep, past, make_strategy(sweep), store)
    past.begin(seed)
    return runner
