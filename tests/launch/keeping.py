"""Run a small script in this process under the keeper of capsules, and leave the process as it was."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from stepscope.launch.capsule.keeper import MOST_BYTES, Keeper, Kept
from stepscope.launch.capsule.save import Surroundings
from stepscope.launch.script import find_script, run_as_main
from stepscope.record.observers.watcher import Watcher
from stepscope.record.pulse import Pulse
from stepscope.runs.read.folder import RunFolder, open_run
from stepscope.track.session import current, init


@contextmanager
def unchanged_process() -> Iterator[None]:
    argv, path, main, cwd = list(sys.argv), list(sys.path), sys.modules["__main__"], os.getcwd()
    random = torch.get_rng_state()
    try:
        yield
    finally:
        sys.argv[:], sys.path[:], sys.modules["__main__"] = argv, path, main
        os.chdir(cwd)
        torch.set_rng_state(random)


class Ran:
    """A script that was run, what was kept of it, and what it raised."""

    def __init__(self, folder: Path, kept: list[Kept], error: BaseException | None) -> None:
        self.folder, self.kept, self.error = folder, kept, error

    unchanged_process = staticmethod(unchanged_process)

    @property
    def run(self) -> RunFolder:
        return open_run(self.folder)


def run_and_keep(script: Path, args: Sequence[str] = (), *, most_bytes: int = MOST_BYTES, rank: int = 0) -> Ran:
    """Run the script as `stepscope run` would, with the watcher, the pulse and the keeper."""
    run = init(project="capsules", dir=script.parent / "runs", console=False, system=False, git=False)
    watcher = Watcher()
    keeper = Keeper(watcher, Surroundings(str(script), False, list(args), rank), current, most_bytes=most_bytes)
    watcher.add(keeper)
    pulse = Pulse(on_beat=keeper.beat)
    error: BaseException | None = None
    with unchanged_process():
        os.chdir(script.parent)
        watcher.start()
        pulse.start()
        try:
            run_as_main(find_script(str(script), args))
        except Exception as raised:
            error = raised
            keeper.crashed(raised)
        finally:
            pulse.stop()
            watcher.stop()
            run.finish()
    folder: Any = run.path
    return Ran(folder, keeper.kept, error)
