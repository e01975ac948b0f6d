"""Habits: seeds that are set again and again, modes left on, loaders made anew, scaled gradients that are clipped."""

from __future__ import annotations

import time
import weakref
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from stepscope.record.watch.loaders import live
from stepscope.record.watch.places import own_place
from stepscope.record.watch.witness import Witness

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.evidence.steps import Step
    from stepscope.evidence.visits import Visit
    from stepscope.record.watch.loaders import Loader
    from stepscope.record.watch.watcher import Watcher
    from stepscope.records.place import Place

__all__ = ["Habits", "Scaling", "Seeding"]

_MOST = 2000


class Seeding:
    """One call that set the global random numbers."""

    __slots__ = ("batches", "place", "step", "trains", "value", "which")

    def __init__(self, which: str, value: Any, place: Place | None, step: int, batches: int) -> None:
        self.which = which
        self.value = value
        self.place = place
        self.step = step
        self.batches = batches
        self.trains: bool | None = None
        """The next call of a model after it was one with gradients; None: there was none yet."""


class Scaling:
    """One gradient scaler: in which order its methods were called."""

    def __init__(self, scaler: Any, place: Place | None) -> None:
        self.ref = weakref.ref(scaler)
        self.place = place
        self.calls: list[ScalerCall] = []
        """The first ones."""
        self.enabled = bool(scaler.is_enabled())
        self.scale = float(scaler.get_scale()) if str(getattr(scaler, "_device", "cpu")) == "cpu" else None

    def last_before(self, moment: float) -> str:
        """The latest call before a moment: scale, unscale_, step or update."""
        return next((call.name for call in reversed(self.calls) if call.time < moment), "")


class ScalerCall:
    __slots__ = ("backwards", "name", "place", "time")

    def __init__(self, name: str, place: Place | None, backwards: int) -> None:
        self.name = name
        self.place = place
        self.backwards = backwards
        """How many backwards had run before it."""
        self.time = time.perf_counter()


class Habits(Witness):
    """`run.habits`"""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self.seeds: list[Seeding] = []
        self.seeded = 0
        self.anomaly_steps = 0
        """How many optimizer steps ran with anomaly detection on."""
        self.anomaly: Place | None = None
        self.rebuilt: Counter[tuple[Place, int]] = Counter()
        """(where a loader is made, id of its dataset) -> how often."""
        self.rebuilt_loaders: dict[tuple[Place, int], list[Loader]] = {}
        self.scalers: list[Scaling] = []
        self._scaling: weakref.WeakKeyDictionary[Any, Scaling] = weakref.WeakKeyDictionary()

    def install(self, installed: Installed) -> None:
        for point, which in (
            ("torch:manual_seed", "torch"),
            ("numpy.random:seed", "numpy"),
            ("random:seed", "python"),
        ):
            installed.before(point, "following a seed", partial(self._seeded, which))
        for name in ("set_detect_anomaly", "detect_anomaly"):
            installed.after(f"torch.autograd:{name}.__init__", "following anomaly detection", self._anomaly_set)
        home = "torch.amp" if hasattr(torch.amp, "GradScaler") else "torch.cuda.amp"
        for name in ("scale", "unscale_", "step", "update"):
            installed.before(f"{home}:GradScaler.{name}", "following a gradient scaler", partial(self._scaled, name))

    def _seeded(self, which: str, frame: Any, *args: Any, **kwargs: Any) -> None:
        if not self.watcher.listens():
            return
        self.seeded += 1
        value = args[0] if args else next(iter(kwargs.values()), None)
        if len(self.seeds) < _MOST and isinstance(value, (int, np.integer)):
            place = own_place(frame)
            self.seeds.append(Seeding(which, int(value), place, self.watcher.step, self.watcher.batches))

    def _anomaly_set(self, frame: Any, *rest: Any, **kwargs: Any) -> None:
        if self.watcher.listens():
            self.anomaly = own_place(frame)

    def _scaled(self, name: str, frame: Any, scaler: Any, *args: Any, **kwargs: Any) -> None:
        if not self.watcher.listens():
            return
        known = self._scaling.get(scaler)
        place = own_place(frame)
        if known is None:
            known = self._scaling[scaler] = Scaling(scaler, place)
            self.scalers.append(known)
        if len(known.calls) < _MOST:
            known.calls.append(ScalerCall(name, place, self.watcher.steps.backward_count))

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        if self.seeds and self.seeds[-1].trains is None:
            self.seeds[-1].trains = visit.grad

    def step_done(self, step: Step, optimizer: Any) -> None:
        if torch.is_anomaly_enabled():
            self.anomaly_steps += 1

    def batch(self, loader: Loader, batch: Any) -> None:
        if loader.batches == 1 and loader.made is not None:
            key = (loader.made, id(getattr(live(loader), "dataset", None)))
            self.rebuilt[key] += 1
            self.rebuilt_loaders.setdefault(key, []).append(loader)
