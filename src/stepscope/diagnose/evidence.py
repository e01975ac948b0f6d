"""The evidence: everything the witnesses saw, in one object that every rule gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.diagnose.probes.probe import Probes
from stepscope.diagnose.source import Source

if TYPE_CHECKING:
    from stepscope.diagnose.crash.crash import Crash
    from stepscope.evidence.activations import Activations
    from stepscope.evidence.attention import Attention
    from stepscope.evidence.axes import Axes
    from stepscope.evidence.contractions import Contractions
    from stepscope.evidence.devices import Devices
    from stepscope.evidence.finite import Finite
    from stepscope.evidence.forwards import Forwards
    from stepscope.evidence.indices import Indices
    from stepscope.evidence.metrics import Metrics
    from stepscope.evidence.numbers import Numbers
    from stepscope.evidence.sequences import Sequences
    from stepscope.evidence.shapes_seen import ShapesSeen
    from stepscope.evidence.steps import Steps
    from stepscope.evidence.trail import Trail
    from stepscope.evidence.trials import Trials
    from stepscope.record.watch.ranks import Rank
    from stepscope.record.watch.watcher import Watcher

__all__ = ["Evidence"]


class Evidence:
    """What rules ask. One attribute a witness; `source` for the text of the user's own files.

    A witness of a rule's own is added in `__init__` with one line.
    """

    def __init__(self, watcher: Watcher, source: Source | None = None) -> None:
        self.watcher = watcher
        self.trainer = watcher.trainer
        self.trail: Trail = watcher.trail
        self.visits = watcher.visits
        self.steps: Steps = watcher.steps
        self.optimizers = watcher.optimizers
        self.models = watcher.models
        self.modes = watcher.modes
        self.loaders = watcher.loaders
        self.devices: Devices = watcher.devices
        self.keeping = watcher.keeping
        self.habits = watcher.habits
        self.indices: Indices = watcher.indices
        self.compiling = watcher.compiling
        self.losses = watcher.losses
        self.contractions: Contractions = watcher.contractions
        self.sequences: Sequences = watcher.sequences
        self.attention: Attention = watcher.attention
        self.trials: Trials = watcher.trials
        self.wraps = watcher.wraps
        self.shapes_seen: ShapesSeen = watcher.shapes_seen
        self.finite: Finite = watcher.finite
        self.differences = watcher.differences
        self.layers = watcher.layers
        self.starts = watcher.starts
        self.checkpoints = watcher.checkpoints
        self.numbers: Numbers = watcher.numbers
        self.batches = watcher.batches_fed
        self.targets = watcher.targets
        self.deliveries = watcher.deliveries
        self.entrances = watcher.entrances
        self.axes: Axes = watcher.axes
        self.metrics: Metrics = watcher.metrics
        self.activations: Activations = watcher.activations
        self.clips = watcher.clips
        self.flow = watcher.flow
        self.forwards: Forwards = watcher.forwards
        self.movements = watcher.movements
        self.schedulers = watcher.schedulers
        self.reaches = watcher.reaches
        self.distributed = watcher.distributed
        self.collectives = watcher.collectives
        self.ranks: list[Rank] = []
        """What the ranks of a distributed training have written down, when the run is over."""
        self.source = source or Source()
        self.probes = Probes(watcher)
        self.crash: Crash | None = None
        self.over = False
        """The script has ended: what has not happened by now will not happen."""
        self.found: list[str] = []
        """The ids of the rules that have found something so far."""
        # Witnesses that only rules of one subject need: witness class -> attribute.

    def settle(self) -> None:
        """Have the observers write down how things stand, before rules are asked."""
        self.watcher.settle()

    def experiment(self) -> None:
        """Have the observers try out what only trying tells; the script has ended by itself."""
        self.watcher.experiment()

    def witness(self, kind: Any) -> Any:
        """The watcher's witness of this class."""
        return next(w for w in self.watcher.witnesses if isinstance(w, kind))
