"""The observer that could save the running step at any moment, and does when it fails or goes non-finite.

While all is well it holds references to the last batch and the model's arguments, the random states (about 20
microseconds a step) and copies of small buffers. Nothing is computed, and nothing autograd made is held.
"""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope import fence
from stepscope.events.hub import source_of
from stepscope.events.quiet import quietly
from stepscope.launch.capsule.failure import Failure, Surroundings
from stepscope.launch.capsule.iteration import Buffers, Turn
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place

if TYPE_CHECKING:
    from torch.optim import Optimizer

    from stepscope.events import Installed
    from stepscope.events.cadence import Cadence
    from stepscope.events.modules import ModuleCall
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.steps import Backward, Step
    from stepscope.evidence.visits import Visit
    from stepscope.launch.capsule.manifest import Why
    from stepscope.record.observers.watcher import Watcher
    from stepscope.record.pulse import Beat
    from stepscope.track.run import Run

MOST_BYTES = 1 << 30


class Kept(NamedTuple):
    """A capsule that was written."""

    name: str
    step: int
    why: Why
    bytes: int
    missing: tuple[str, ...]


class Keeper(Observer):
    """Add it to a watcher before `start`; tell it of beats (`Pulse(on_beat=keeper.beat)`) and of the crash.

    keeper = Keeper(watcher, Surroundings("train.py", argv=["--lr", "0.1"]), run=stepscope.current)
    watcher.add(keeper)
    """

    steady = True

    def __init__(
        self,
        watcher: Watcher,
        around: Surroundings,
        run: Callable[[], Run | None],
        *,
        most_bytes: int = MOST_BYTES,
        on_kept: Callable[[Kept], None] | None = None,
    ) -> None:
        super().__init__(watcher)
        self.kept: list[Kept] = []
        self.cadence: Cadence | None = None
        """Says which steps are among many very short ones that are not kept: keeping would be a large part of them."""
        self._around = around
        self._run = run
        self._most_bytes = most_bytes
        self._on_kept = on_kept
        self._turn = Turn()
        self._buffers = Buffers()
        self._loss: float | None = None
        self._failed: list[tuple[Turn, Why]] = []

    # What the step uses

    def batch(self, loader: Loader, batch: Any) -> None:
        if self._is_skipped():
            if self._turn.used or self._turn.batches:
                self._turn = Turn()
            return
        if self._turn.is_followed_by(loader.number):
            self._begin()
        self._turn.take_batch(batch, own_place(sys._getframe(1)), loader.number, loader.made)

    def install(self, installed: Installed) -> None:
        self.watcher.on_call = self._called
        if self.cadence is not None:
            self.cadence.on_skips = self._rest

    def _rest(self, skips: bool) -> None:
        """In steps that are not kept nobody has to hear of models."""
        models: Any = source_of("model_begins")
        models.rest_with_grad(self.watcher.visits.known if skips else None)

    def _called(self, call: ModuleCall) -> None:
        """A model is called in a step that is not watched in detail."""
        if self.cadence is not None and self.cadence.skips:
            return
        turn = self._turn
        if turn.has_called(call.module):
            return
        place = own_place(call.frame)
        if turn.begins_anew(place, True):
            self._begin()
        if self._turn.call(call.module, call.args, call.kwargs, place):
            with quietly():
                self._buffers.note(call.module)

    def root_begins(self, visit: Visit, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._turn.begins_anew(visit.place, visit.grad):
            self._begin()
        if self._turn.call(module, args, kwargs, visit.place):
            self._buffers.note(module)

    def step_done(self, step: Step | None, optimizer: Optimizer) -> None:
        if self.cadence is None or not self.cadence.skips or self.watcher.governor.is_deep:
            self._turn.stepped()
        elif self._turn.used:
            self._turn = Turn()

    def _is_skipped(self) -> bool:
        return self.cadence is not None and self.cadence.skips and not self.watcher.governor.is_deep

    def finish(self) -> None:
        self._turn, self._buffers = Turn(), Buffers()

    def _begin(self) -> None:
        self._turn = Turn()
        self._loss = None

    # When it fails

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        if not backward.accumulates or backward.loss is None:
            return
        self._loss = backward.loss
        if not math.isfinite(backward.loss):
            from stepscope.launch.capsule.frames import own_frames

            self._keep("loss", own_frames(sys._getframe(1)))

    def beat(self, beat: Beat) -> None:
        """A step's numbers have come; on a CPU before its update, from a device a step late."""
        if beat.ok:
            return
        from stepscope.launch.capsule.frames import own_frames

        self._loss = beat.loss if self._loss is None else self._loss
        self._keep("loss" if beat.bad_loss else "gradient", own_frames(sys._getframe(1)), beat=beat)

    def crashed(self, error: BaseException) -> Kept | None:
        """The script was ended by this; what was kept of the step, if it was one."""
        from bdb import BdbQuit

        from stepscope.launch.capsule.frames import frames_of

        turn = self._turn
        if isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit, BdbQuit)) or turn.is_over:
            return None
        if not (turn.used or turn.batches) or _in_a_loader(error.__traceback__):
            return None
        said = f"{type(error).__name__}: {error}"
        if "device-side assert" in said:  # the device is lost, and with it the weights and whatever else was on it
            return None
        return self._keep("error", frames_of(error.__traceback__), error=said)

    @fence.fenced("keeping the step in a capsule")
    def _keep(self, why: Why, frames: Sequence[FrameType], error: str = "", beat: Beat | None = None) -> Kept | None:
        run = self._run()
        if run is None or run.path is None or self._known(why):
            return None
        self._failed.append((self._turn, why))
        step = self.watcher.step
        failure = Failure(
            why=why,
            step=step,
            frames=frames,
            error=error,
            loss=self._loss,
            grad_norm=None if beat is None else beat.grad_norm,
            late=beat is not None and beat.step < step,
        )
        kept = self._write(run, run.path, failure)
        self.kept.append(kept)
        if self._on_kept is not None:
            self._on_kept(kept)
        return kept

    def _known(self, why: Why) -> bool:
        """The first non-finite step is enough; a crash is kept unless that very turn is."""
        if why == "error":
            return any(turn is self._turn for turn, _ in self._failed)
        return bool(self._failed)

    def _write(self, run: Run, folder: Path, failure: Failure) -> Kept:
        from stepscope.launch.capsule.save import pack_step, write_folder

        made = {one.number: one.ref() for one in self.watcher.optimizers.made if one.ref() is not None}
        with quietly():
            packed = pack_step(self._turn, self._buffers, made, failure, self._around, self._most_bytes)
            files = write_folder(packed, folder)
        rank = f"-rank-{self._around.rank}" if self._around.rank else ""
        name = f"capsule-step-{failure.step}{rank}"
        try:
            notes = {"why": failure.why, "step": failure.step, "rank": self._around.rank}
            run.log_artifact(files, name=name, type="capsule", metadata=notes)
        finally:
            tensors = files["tensors.safetensors"]
            assert isinstance(tensors, Path)
            shutil.rmtree(tensors.parent, ignore_errors=True)
        return Kept(name, failure.step, failure.why, packed.bytes, tuple(packed.manifest.missing))


def _in_a_loader(trace: TracebackType | None) -> bool:
    """Whether the error came out of a data loader: then no step was running."""
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.replace("\\", "/").endswith("torch/utils/data/dataloader.py"):
            return True
        trace = trace.tb_next
    return False
