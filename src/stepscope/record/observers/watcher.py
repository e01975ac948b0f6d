"""The watcher: all observers of one running script, and the moments at which rules are asked."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stepscope import events, fence
from stepscope.common import clocks
from stepscope.events import Installed, aside
from stepscope.events.aside import is_capturing
from stepscope.events.governor import Governor
from stepscope.events.quiet import quietly
from stepscope.events.warning_places import place_warnings
from stepscope.evidence.hot_lines import HotLines
from stepscope.evidence.loaders import Loader
from stepscope.evidence.loss_course import LossCourse
from stepscope.evidence.printed_numbers import PrintedNumbers
from stepscope.evidence.progress import Progress
from stepscope.evidence.ranks import Ranks
from stepscope.evidence.steps import Step
from stepscope.record.collector import Rested
from stepscope.record.observers.fetch import patience
from stepscope.record.observers.listeners import Listeners, guarded, overridden, tell
from stepscope.record.observers.module_records import ModuleRecords
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place
from stepscope.record.observers.registry import observers
from stepscope.record.observers.tensor_history import TensorHistoryObserver
from stepscope.record.observers.trainer import TrainerObserver
from stepscope.record.observers.visits import VisitObserver

if TYPE_CHECKING:
    from stepscope.record.observers.activations import ActivationObserver
    from stepscope.record.observers.attention import AttentionObserver
    from stepscope.record.observers.axes import AxisObserver
    from stepscope.record.observers.batch_positions import BatchPositionObserver
    from stepscope.record.observers.batches import BatchObserver
    from stepscope.record.observers.checkpoints import CheckpointObserver
    from stepscope.record.observers.collectives import CollectiveObserver
    from stepscope.record.observers.compiling import CompilingObserver
    from stepscope.record.observers.contractions import ContractionObserver
    from stepscope.record.observers.devices import DeviceObserver
    from stepscope.record.observers.distributed import DistributedObserver
    from stepscope.record.observers.forwards import ForwardObserver
    from stepscope.record.observers.global_settings import GlobalSettingsObserver
    from stepscope.record.observers.gradient_clips import GradientClipObserver
    from stepscope.record.observers.gradient_flow import GradientFlowObserver
    from stepscope.record.observers.gradient_reach import GradientReachObserver
    from stepscope.record.observers.indices import IndexObserver
    from stepscope.record.observers.input_perturbation import InputPerturbationObserver
    from stepscope.record.observers.layers import LayerObserver
    from stepscope.record.observers.loader_output import LoaderOutputObserver
    from stepscope.record.observers.loaders import LoaderObserver
    from stepscope.record.observers.losses import LossObserver
    from stepscope.record.observers.manual_losses import ManualLossObserver
    from stepscope.record.observers.metrics import MetricObserver
    from stepscope.record.observers.model_inputs import ModelInputObserver
    from stepscope.record.observers.models import ModelObserver
    from stepscope.record.observers.modes import ModeObserver
    from stepscope.record.observers.nonfinite import NonfiniteObserver
    from stepscope.record.observers.optimizers import OptimizerObserver
    from stepscope.record.observers.padding_trials import PaddingTrialObserver
    from stepscope.record.observers.precision_loss import PrecisionLossObserver
    from stepscope.record.observers.retained_graphs import RetainedGraphObserver
    from stepscope.record.observers.schedulers import SchedulerObserver
    from stepscope.record.observers.sequences import SequenceObserver
    from stepscope.record.observers.shapes_seen import ShapeObserver
    from stepscope.record.observers.steps import StepObserver
    from stepscope.record.observers.targets import TargetObserver
    from stepscope.record.observers.uint8_overflow import Uint8OverflowObserver
    from stepscope.record.observers.weight_init import WeightInitObserver
    from stepscope.record.observers.weight_updates import WeightUpdateObserver

_ORDER = 50
_CLOSELY = ("module_begins", "module_ends")
_ALWAYS = (
    "loader_made", "pass_began", "batch_asked", "batch_given", "pass_ended", "model_begins", "model_ends",
    "backward_begins", "backward_ends", "step_begins", "closure_begins", "closure_ends", "step_ends", "compiled",
)  # fmt: skip


class Watcher(Progress):
    """Watches the script that runs between `start` and `stop`, on this thread of this process.

        watcher = Watcher()
        watcher.add(Losses(watcher))
        watcher.start()

    `on_moment` is told "step" after each optimizer step and "epoch" when a loader is exhausted.
    """

    if TYPE_CHECKING:  # each found by folder
        optimizers: OptimizerObserver
        steps: StepObserver
        models: ModelObserver
        modes: ModeObserver
        loaders: LoaderObserver
        devices: DeviceObserver
        retained_graphs: RetainedGraphObserver
        global_settings: GlobalSettingsObserver
        indices: IndexObserver
        compiling: CompilingObserver
        losses: LossObserver
        contractions: ContractionObserver
        sequences: SequenceObserver
        attention: AttentionObserver
        input_perturbation: InputPerturbationObserver
        batch_positions: BatchPositionObserver
        padding_trials: PaddingTrialObserver
        uint8_overflow: Uint8OverflowObserver
        shapes_seen: ShapeObserver
        nonfinite: NonfiniteObserver
        manual_losses: ManualLossObserver
        layers: LayerObserver
        weight_init: WeightInitObserver
        checkpoints: CheckpointObserver
        precision_loss: PrecisionLossObserver
        batches_fed: BatchObserver
        targets: TargetObserver
        loader_output: LoaderOutputObserver
        model_inputs: ModelInputObserver
        axes: AxisObserver
        metrics: MetricObserver
        activations: ActivationObserver
        gradient_clips: GradientClipObserver
        gradient_flow: GradientFlowObserver
        forwards: ForwardObserver
        weight_updates: WeightUpdateObserver
        schedulers: SchedulerObserver
        gradient_reach: GradientReachObserver
        distributed: DistributedObserver
        collectives: CollectiveObserver

    def __init__(self, on_moment: Callable[[str], None] | None = None) -> None:
        super().__init__()
        self.on_moment = on_moment
        self.began = clocks.perf_counter()
        self._installed = Installed(stays_in_parent=True)
        self.thread = threading.get_ident()
        self._on = False
        self._subscription: events.Subscription | None = None
        self.governor = Governor(self._deepen)
        self._tired = False
        self.asking_s = 0.0
        """What asking the rules has cost so far."""
        self._reads = 0
        self.muted = 0
        """Above 0 while a probe runs the user's model: nothing is observed."""
        self.trainer = TrainerObserver()
        self.hot_lines = HotLines()
        """Filled by whoever samples the process."""
        self.printed_numbers = PrintedNumbers()
        """Filled by whoever reads what is printed."""
        self.loss_course = LossCourse()
        """Filled by whoever follows the pulse."""
        self.ranks = Ranks()
        """Read when the run is over, by whoever has the notes of all processes."""
        self.module_records = ModuleRecords()
        self.tensor_history = TensorHistoryObserver(self)
        self.visits = VisitObserver(self)
        self.observers: list[Observer] = []
        for name, kind in observers():
            observer = kind(self)
            self.observers.append(observer)
            setattr(self, "batches_fed" if name == "batches" else name, observer)
        self.on_call: Callable[[Any], None] | None = None
        """Told of each call of a model with gradients that is not watched in detail (`modules.ModuleCall`)."""
        self._listeners = Listeners()

    def add(self, observer: Observer) -> None:
        """Have one more observer; before `start`."""
        self.observers.append(observer)

    def start(self) -> Watcher:
        patience.begin()
        aside.reopen()
        self._listeners = Listeners(self.observers)
        for observer in self.observers:
            if type(observer).op is not Observer.op:
                self.tensor_history.listen(observer.ops, guarded(observer.op))
            if type(observer).before_op is not Observer.before_op:
                self.tensor_history.listen_before(observer.before_ops, guarded(observer.before_op))
        self.tensor_history.failures = overridden(self.observers, "op_failed")
        self._on = True
        _running.add(self)
        self._subscribe()
        for observer in self.observers:
            fence.fenced(f"watching {type(observer).__name__.lower()}")(observer.install)(self._installed)
        fence.fenced("placing warnings")(place_warnings)(self._installed)
        self.governor.begin()
        return self

    def _subscribe(self) -> None:
        self._subscription = events.subscribe(
            "watching the training",
            thread=self.thread,
            order=_ORDER,
            loader_made=self.loaders.made,
            pass_began=self.loaders.pass_began,
            batch_asked=self.loaders.asked,
            batch_given=self.loaders.delivered,
            pass_ended=self.loaders.exhausted,
            model_begins=self.visits.model_begins,
            model_ends=self.visits.model_ends,
            module_begins=self.visits.module_begins,
            module_ends=self.visits.module_ends,
            backward_begins=self.steps.backward_begins,
            backward_ends=self.steps.backward_ends,
            step_begins=self.steps.begins,
            closure_begins=self.steps.closure_begins,
            closure_ends=self.steps.closure_ends,
            step_ends=self.steps.ends,
            compiled=self._compiled,
        )
        self._subscription.listen(*_ALWAYS)

    def stop(self) -> None:
        """Take everything away; what was seen stays."""
        if not self._on:
            return
        self._on = False
        _running.discard(self)
        self.tensor_history.close()
        if self._subscription is not None:
            self._subscription.remove()
        self._installed.remove()
        for observer in self.observers:
            fence.fenced(f"watching {type(observer).__name__.lower()}")(observer.finish)()

    def listens(self) -> bool:
        """Whether what happens now belongs to the script's main thread (and to no probe of ours)."""
        return self._on and not self.muted and threading.get_ident() == self.thread

    @contextmanager
    def mute(self) -> Iterator[None]:
        """What runs inside is not the training: a probe of ours, or a search whose steps are taken back."""
        self.muted += 1
        self.tensor_history.paused += 1
        try:
            yield
        finally:
            self.tensor_history.paused -= 1
            self.muted -= 1

    def tell(self, what: str, *facts: Any) -> None:
        """Tell the observers that want to hear it; a fault of one is reported and the others still hear of it."""
        if self.muted:
            return
        if not self.governor.is_deep:
            tell(self._listeners.steady[what], what, *facts)
        elif self._listeners.all[what]:
            with quietly(), Rested():
                tell(self._listeners.all[what], what, *facts)

    # Looking closely, or only taking the pulse

    def _deepen(self, yes: bool) -> None:
        """The governor opens a window of close looking, or ends one."""
        if self._subscription is None:
            return
        if yes:
            patience.refill()
            for observer in self.observers:
                fence.call(f"watching {type(observer).__name__.lower()}", observer.resume)
            self._subscription.listen(*_ALWAYS, *_CLOSELY)
            self.tensor_history.open()
        else:
            if self._tired:
                self._tired = False
                self.tensor_history.paused -= 1
            self.tensor_history.close()
            self._subscription.listen(*_ALWAYS)
            for observer in self.observers:
                fence.call(f"watching {type(observer).__name__.lower()}", observer.rest)

    def tire(self) -> None:
        """A window is over its budget while a model runs: far beyond it nothing more is followed until that returns."""
        if not self._tired and self.governor.is_exhausted:
            self._tired = True
            self.tensor_history.paused += 1

    def stepped(self, step: Step | None, optimizer: Any, is_new: bool) -> None:
        """An optimizer has stepped, as the first of this step if `is_new`; `step` is None when it was not looked at."""
        self.step += is_new
        was_deep = self.governor.is_deep
        if was_deep:
            reads, self._reads = patience.reads - self._reads, patience.reads
            self.governor.fetched(reads)
        if step is not None:
            self.tell("step_done", step, optimizer)
        elif not self.muted:
            tell(self._listeners.steady["step_done"], "step_done", None, optimizer)
        if is_new:
            self.governor.stepped()
        if was_deep:
            window = self.governor.windows[-1]
            self._moment("step" if self.governor.is_deep else "alarm" if window.is_alarm else "window")

    def new_epoch(self, loader: Loader) -> None:
        """A loader starts over. One made on the same line of the same data as an earlier one is the same loader."""
        self.governor.new(
            "a loader's pass", (loader.made or loader.iterated, None if loader.data is None else loader.data.number)
        )

    def batch_came(self) -> None:
        """While looking closely."""
        self.governor.charge("batch")
        self.governor.batch()
        self.governor.at_rest()

    def epoch_over(self) -> None:
        if self.governor.is_deep:
            self._moment("epoch")

    def tables(self) -> dict[str, Any]:
        """Everything that was seen, by the names rules know it by."""
        found = {name: getattr(self, "batches_fed" if name == "batches" else name) for name, _ in observers()}
        return found | {
            "progress": self,
            "tensor_history": self.tensor_history,
            "visits": self.visits,
            "hot_lines": self.hot_lines,
            "printed_numbers": self.printed_numbers,
            "loss_course": self.loss_course,
            "trainer": self.trainer,
            "ranks": self.ranks,
        }

    def settle(self) -> None:
        """Have the observers write down how things stand, before rules are asked."""
        fence.call("settling the evidence", self._settle)

    def _settle(self) -> None:
        with quietly():
            for observer in self.observers:
                if type(observer).settle is not Observer.settle:
                    fence.call(f"settling {type(observer).__name__}", observer.settle)

    def observe_crash(self, error: BaseException) -> dict[str, Any]:
        """What there is to know of the exception that has ended the script, and which change would fix it."""
        from stepscope.record.observers.crash.observe import observe, tried_changes

        found: dict[str, Any] = {"crash": fence.call("reading the exception", observe, error, self)}
        found["repairs"] = fence.call("trying changes after the exception", tried_changes, error)
        return {name: table for name, table in found.items() if table is not None}

    def experiment(self) -> None:
        """Have the observers try what only trying tells; the script has ended by itself."""
        for observer in self.observers:
            if type(observer).experiment is not Observer.experiment:
                fence.call(f"an experiment of {type(observer).__name__}", observer.experiment)

    def _moment(self, kind: str) -> None:
        if self.on_moment is not None and not is_capturing():  # rules look at weights
            began = clocks.thread_time()
            with quietly(), Rested():
                fence.call("asking the rules", self.on_moment, kind)
            self.asking_s += clocks.thread_time() - began

    def _compiled(self, frame: Any) -> None:
        """Compiled code may run from now on: models and operations are no longer followed."""
        if self.listens():
            self.compiled = self.compiled or own_place(frame)
            self.governor.close("the script compiles its model")
            steady = self._listeners.steady["step_done"]
            if self.compiling.step_done not in steady:
                steady.append(self.compiling.step_done)
            for observer in self.observers:
                observer.step_aside()


_running: weakref.WeakSet[Watcher] = weakref.WeakSet()


def is_watched() -> bool:
    """Whether a watch is active in this process: `stepscope run`, or a callback."""
    return bool(_running)


def _leave_in_child() -> None:
    for watcher in list(_running):
        watcher._on = False
    _running.clear()


events.on_fork(_leave_in_child)
