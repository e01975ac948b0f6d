"""The evidence: everything that was seen of a training, in one object that every rule gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from stepscope.diagnose.source import Source
from stepscope.evidence.progress import Progress
from stepscope.evidence.registry import tables

if TYPE_CHECKING:
    from stepscope.diagnose.crash.crash import Crash
    from stepscope.evidence.activations import Activations
    from stepscope.evidence.attention import Attention
    from stepscope.evidence.averaging import Averaging
    from stepscope.evidence.axes import Axes
    from stepscope.evidence.batches import Batches
    from stepscope.evidence.broadcasts import Broadcasts
    from stepscope.evidence.checkpoints import Checkpoints
    from stepscope.evidence.collectives import Collectives
    from stepscope.evidence.compiling import Compiling
    from stepscope.evidence.contractions import Contractions
    from stepscope.evidence.devices import Devices
    from stepscope.evidence.distributed import Distributed
    from stepscope.evidence.experiments import Experiments
    from stepscope.evidence.forwards import Forwards
    from stepscope.evidence.global_settings import GlobalSettings
    from stepscope.evidence.gradient_clips import GradientClips
    from stepscope.evidence.gradient_flow import GradientFlow
    from stepscope.evidence.gradient_reach import GradientReach
    from stepscope.evidence.host_reads import HostReads
    from stepscope.evidence.hot_lines import HotLines
    from stepscope.evidence.indices import Indices
    from stepscope.evidence.input_perturbation import InputPerturbations
    from stepscope.evidence.interpolated_labels import InterpolatedLabels
    from stepscope.evidence.layers import Layers
    from stepscope.evidence.loader_output import LoaderOutput
    from stepscope.evidence.loaders import Loaders
    from stepscope.evidence.loss_course import LossCourse
    from stepscope.evidence.losses import Losses
    from stepscope.evidence.manual_losses import ManualLosses
    from stepscope.evidence.metrics import Metrics
    from stepscope.evidence.model_inputs import ModelInputs
    from stepscope.evidence.models import Models
    from stepscope.evidence.modes import Modes
    from stepscope.evidence.nonfinite import Nonfinite
    from stepscope.evidence.norm_statistics import NormStatistics
    from stepscope.evidence.optimizers import Optimizers
    from stepscope.evidence.precision_loss import PrecisionLoss
    from stepscope.evidence.printed_numbers import PrintedNumbers
    from stepscope.evidence.ranks import Ranks
    from stepscope.evidence.repairs import Repairs
    from stepscope.evidence.retained_graphs import RetainedGraphs
    from stepscope.evidence.schedulers import Schedulers
    from stepscope.evidence.sequences import Sequences
    from stepscope.evidence.shapes_seen import ShapesSeen
    from stepscope.evidence.steps import Steps
    from stepscope.evidence.targets import Targets
    from stepscope.evidence.tensor_history import TensorHistory
    from stepscope.evidence.trainer import Trainer
    from stepscope.evidence.uint8_overflow import Uint8Overflows
    from stepscope.evidence.unused_results import UnusedResults
    from stepscope.evidence.visits import Visits
    from stepscope.evidence.weight_init import WeightInit
    from stepscope.evidence.weight_updates import WeightUpdates

T = TypeVar("T")


class NotSeen(LookupError):
    """A table that this run does not have: nobody looked, or an older version did."""


class Watching(Protocol):
    """Who has seen it, while the script runs: `record.observers.Watcher`."""

    def tables(self) -> dict[str, Any]: ...
    def settle(self) -> None: ...
    def experiment(self) -> None: ...
    def observe_crash(self, error: BaseException) -> dict[str, Any]: ...


class Evidence:
    """What rules ask: `run.losses`, one attribute for each table; `run.source` for the text of the user's own files."""

    if TYPE_CHECKING:
        hot_lines: HotLines
        printed_numbers: PrintedNumbers
        loss_course: LossCourse
        loader_output: LoaderOutput
        devices: Devices
        nonfinite: Nonfinite
        gradient_flow: GradientFlow
        layers: Layers
        loaders: Loaders
        losses: Losses
        models: Models
        modes: Modes
        weight_updates: WeightUpdates
        precision_loss: PrecisionLoss
        optimizers: Optimizers
        gradient_reach: GradientReach
        weight_init: WeightInit
        steps: Steps
        visits: Visits
        retained_graphs: RetainedGraphs
        global_settings: GlobalSettings
        indices: Indices
        compiling: Compiling
        contractions: Contractions
        sequences: Sequences
        attention: Attention
        input_perturbation: InputPerturbations
        averaging: Averaging
        broadcasts: Broadcasts
        host_reads: HostReads
        interpolated_labels: InterpolatedLabels
        norm_statistics: NormStatistics
        uint8_overflow: Uint8Overflows
        unused_results: UnusedResults
        shapes_seen: ShapesSeen
        manual_losses: ManualLosses
        checkpoints: Checkpoints
        batches: Batches
        targets: Targets
        model_inputs: ModelInputs
        axes: Axes
        metrics: Metrics
        activations: Activations
        gradient_clips: GradientClips
        forwards: Forwards
        schedulers: Schedulers
        distributed: Distributed
        collectives: Collectives
        trainer: Trainer
        ranks: Ranks
        tensor_history: TensorHistory
        experiments: Experiments
        repairs: Repairs

    def __init__(
        self,
        found: Mapping[str, Any],
        source: Source | None = None,
        *,
        settle: Callable[[], None] | None = None,
        experiment: Callable[[], None] | None = None,
        observe: Callable[[BaseException], dict[str, Any]] | None = None,
    ) -> None:
        self.tables = dict(found)
        self._settle, self._experiment, self._observe = settle, experiment, observe
        self.source = source or Source()
        self.progress: Progress = self.tables.get("progress") or Progress()
        self.crash = self._crash()
        self.found: list[str] = []
        """The ids of the rules that have found something so far."""

    @classmethod
    def of(cls, watcher: Watching, source: Source | None = None) -> Evidence:
        """What a watcher has seen so far, of the script that it watches."""
        settle, experiment, observe = watcher.settle, watcher.experiment, watcher.observe_crash
        return cls(watcher.tables(), source, settle=settle, experiment=experiment, observe=observe)

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__.get("tables", {}).get(name)
        if found is None:
            raise NotSeen(name) if name in tables() else AttributeError(name)
        return found

    def __getitem__(self, kind: type[T]) -> T:
        """The table of this class, for one that has no attribute here."""
        name = next(one.name for one in tables().values() if one.kind is kind)
        found: T = getattr(self, name)
        return found

    def _crash(self) -> Crash | None:
        """The exception that ended the script, as the rules for a crash read it."""
        seen = self.tables.get("crash")
        if seen is None:
            return None
        from stepscope.diagnose.crash.crash import Crash

        return Crash.reading(seen)

    def observe_crash(self, error: BaseException) -> None:
        """An exception has ended the script: have it read once, while its frames are there."""
        if self._observe is not None:
            self.tables.update(self._observe(error))
            self.crash = self._crash()

    @property
    def over(self) -> bool:
        """The script has ended: what has not happened by now will not happen."""
        return self.progress.over

    def settle(self) -> None:
        """Have the observers write down how things stand, before rules are asked."""
        if self._settle is not None:
            self._settle()

    def experiment(self) -> None:
        """Have the observers try out what only trying tells; the script has ended by itself."""
        if self._experiment is not None:
            self._experiment()
