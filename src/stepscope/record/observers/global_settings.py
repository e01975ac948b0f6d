"""Follows seeds that are set again and again, modes left on, loaders made in every pass and gradient scalers."""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from stepscope.common import clocks
from stepscope.evidence.global_settings import GlobalSettings, Rebuilt, ScalerCall, Scaling, Seeding
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place, own_places

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.evidence.loaders import Dataset, Loader
    from stepscope.evidence.steps import Step
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_MOST = 2000


class GlobalSettingsObserver(Observer, GlobalSettings):
    def __init__(self, watcher: Watcher) -> None:
        GlobalSettings.__init__(self)
        super().__init__(watcher)
        self._rebuilt: dict[tuple[Place, Dataset | None], Rebuilt] = {}
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
            seeding = Seeding(which, int(value), own_place(frame), self.watcher.step, self.watcher.batches)
            seeding.callers = [one for one in own_places() if one is not seeding.place]
            self.seeds.append(seeding)

    def _anomaly_set(self, frame: Any, *rest: Any, **kwargs: Any) -> None:
        if self.watcher.listens():
            self.anomaly = own_place(frame)

    def _scaled(self, name: str, frame: Any, scaler: Any, *args: Any, **kwargs: Any) -> None:
        if not self.watcher.listens():
            return
        known = self._scaling.get(scaler)
        place = own_place(frame)
        if known is None:
            scale = float(scaler.get_scale()) if str(getattr(scaler, "_device", "cpu")) == "cpu" else None
            known = self._scaling[scaler] = Scaling(place, bool(scaler.is_enabled()), scale)
            self.scalers.append(known)
        if len(known.calls) < _MOST:
            known.calls.append(ScalerCall(name, place, self.watcher.steps.backward_count, clocks.perf_counter()))

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        if self.seeds and self.seeds[-1].trains is None:
            self.seeds[-1].trains = visit.grad

    def step_done(self, step: Step, optimizer: Any) -> None:
        self.looked_steps += 1
        if torch.is_anomaly_enabled():
            self.anomaly_steps += 1

    def batch(self, loader: Loader, batch: Any) -> None:
        if loader.batches == 1 and loader.made is not None:
            key = loader.made, loader.data
            known = self._rebuilt.get(key)
            if known is None:
                known = self._rebuilt[key] = Rebuilt(loader.made)
                self.rebuilt.append(known)
            known.loaders.append(loader)
