"""The numbers of every step: the log of the pulse, the phases, and deep windows where they were asked for."""

from __future__ import annotations

from types import ModuleType

from stepscope import fence
from stepscope.launch.auto_metrics import Logbook
from stepscope.launch.deep_windows import Deep
from stepscope.launch.options import Profiling
from stepscope.launch.part import Ended, Part
from stepscope.launch.session_context import Around


def deep_of(around: Around, profiling: Profiling, *, auto: bool = False) -> Deep:
    return Deep(
        around.loop,
        profiling,
        run=around.run_folder,
        rank=around.rank,
        world=around.world,
        say=around.reporter.note,
        auto=auto,
    )


class Logged(Part):
    """Loss, gradient norm, learning rate and speed go into the run."""

    ending = "ending the log"

    def __init__(self, logbook: Logbook) -> None:
        self._logbook = logbook

    def torch_came(self, torch: ModuleType) -> None:
        self._logbook.start()

    def end(self, ended: Ended) -> None:
        self._logbook.stop()


class Windows(Part):
    """Every run keeps its steps by phase; deep windows are on the disk already when it ends."""

    ending = "keeping the phases of the steps"

    def __init__(self, around: Around, deep: Deep | None) -> None:
        self._around, self._deep = around, deep

    def torch_came(self, torch: ModuleType) -> None:
        deep = self._deep
        if deep is not None:
            fence.call("preparing windows", deep.start, torch)
            if deep.windows is not None:
                deep.windows.notes.append("taken within a run: its pulse (gradient norm) and its watch are in it too")

    def end(self, ended: Ended) -> None:
        from stepscope.launch.phase_profile import keep_phases

        around, deep = self._around, self._deep
        around.loop.iterations.conclude()
        if deep is not None:
            deep.stop()
        folder = around.run_folder()
        if folder is None or around.is_dry:
            return
        keep_phases(folder, around.loop.iterations.phases, around.rank)
        if deep is not None and deep.saved:
            steps = ", ".join(f"{one.meta.first_step} to {one.meta.last_step}" for one in deep.saved)
            around.reporter.note(f"recorded windows of steps {steps}; see them with: stepscope ui")
