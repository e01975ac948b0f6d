"""Changes that can be switched on and off while a script trains: threads, precision, loaders, optimizers, zero_grad."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any, Protocol

from stepscope.events import Installed, quietly, subscribe
from stepscope.events.imports import Imports
from stepscope.launch.trial.changes import apply_change, lend_autocast
from stepscope.launch.trial.data_changes import few_samples_kept
from stepscope.launch.trial.single_precision import lend_single_precision
from stepscope.profile.data.diversion import Diversion
from stepscope.profile.data.settings import LoaderSettings, loader_like
from stepscope.profile.data.training_loader import TrainingLoader

_LAYERS = ("set_to_none", "batch-index", "non_blocking")


class Switch(Protocol):
    first: int
    """Turns before it can be switched for the first time: until it knows what trains."""
    warm: int
    """Turns after a switch that say nothing yet."""

    def on(self) -> None: ...

    def off(self) -> None: ...

    def close(self) -> None: ...


def switch_for(kind: str, settings: Mapping[str, Any], live: Any) -> Switch | None:
    """The switch for a trial; None where the change cannot be made in a running training.

    `live` knows the running training: `imports`, `optimizers()`, `loaders` (iterator -> loader), `backwards()`.
    """
    if kind == "flag" and set(settings) <= set(_FLAGS):
        return FlagSwitch(settings)
    if kind == "flag" and set(settings) == {"anomaly"}:
        return AnomalySwitch(lambda installed: _apply(kind, settings, live.imports, installed))
    if kind in _LAYERS:
        return LayerSwitch(lambda installed: _apply(kind, settings, live.imports, installed))
    if kind == "cache":
        return LayerSwitch(few_samples_kept)
    if kind == "loader":
        return LoaderSwitch(settings, live)
    if kind == "amp":
        return ModelSwitch(lambda torch, model: lend_autocast(torch, model, dict(settings)))
    if kind == "float32":
        return ModelSwitch(lambda torch, model: lend_single_precision(torch, model, live.optimizers()))
    if kind == "optimizer":
        return OptimizerSwitch(settings, live.optimizers())
    return None


def _apply(kind: str, settings: Mapping[str, Any], imports: Imports, installed: Installed) -> None:
    apply_change({"kind": kind, "settings": dict(settings)}, imports, installed)


class LayerSwitch:
    """A layer around a function, there only while it is on."""

    first, warm = 0, 2

    def __init__(self, put: Callable[[Installed], None]) -> None:
        self._put = put
        self._installed = Installed(stays_in_parent=True)

    def on(self) -> None:
        self._put(self._installed)

    def off(self) -> None:
        self._installed.remove()
        self._installed = Installed(stays_in_parent=True)

    close = off


def _threads(torch: ModuleType, value: Any) -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(int(value))
    return before


def _precision(torch: ModuleType, value: Any) -> Any:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(value)
    return before


def _benchmark(torch: ModuleType, value: Any) -> Any:
    before = torch.backends.cudnn.benchmark
    torch.backends.cudnn.set_flags(_benchmark=bool(value))
    return before


def _deterministic(torch: ModuleType, value: Any) -> Any:
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(bool(value))
    return before


_FLAGS: dict[str, Callable[[Any, Any], Any]] = {
    "num_threads": _threads,
    "float32_matmul_precision": _precision,
    "cudnn_benchmark": _benchmark,
    "deterministic": _deterministic,
}
"""Each sets a switch of torch and answers with what it was."""


class FlagSwitch:
    first, warm = 0, 3

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings, self._before = dict(settings), dict[str, Any]()

    def on(self) -> None:
        import torch

        self._before = {name: _FLAGS[name](torch, value) for name, value in self._settings.items()}

    def off(self) -> None:
        import torch

        for name, value in self._before.items():
            _FLAGS[name](torch, value)
        self._before = {}

    close = off


class AnomalySwitch(LayerSwitch):
    """Anomaly detection off, also where each step asks for it."""

    _was: tuple[bool, bool] = (False, True)

    def on(self) -> None:
        import torch

        self._was = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
        super().on()
        torch.set_anomaly_enabled(False)

    def off(self) -> None:
        import torch

        super().off()
        torch.set_anomaly_enabled(*self._was)

    close = off


class OptimizerSwitch:
    """Another implementation of the same update. Its state is the same, but a fused one counts steps on the device."""

    first, warm = 0, 3

    def __init__(self, settings: Mapping[str, Any], optimizers: list[Any]) -> None:
        self._groups = [group for optimizer in optimizers for group in optimizer.param_groups]
        self._states = [optimizer.state for optimizer in optimizers] if settings.get("fused") else []
        self._settings = {"foreach": False, "fused": False, **settings}
        self._before: list[dict[str, Any]] = []

    def on(self) -> None:
        for group in self._groups:
            known = {key: value for key, value in self._settings.items() if key in group}
            self._before.append({key: group[key] for key in known})
            group.update(known)
        self._count_steps(on_device=True)

    def off(self) -> None:
        if not self._before:
            return
        for group, before in zip(self._groups, self._before, strict=False):
            group.update(before)
        self._before = []
        self._count_steps(on_device=False)

    close = off

    def _count_steps(self, *, on_device: bool) -> None:
        import torch

        with quietly():
            for state in self._states:
                for tensor, kept in state.items():
                    if getattr(tensor, "is_cuda", False) and isinstance(kept.get("step"), torch.Tensor):
                        kept["step"] = kept["step"].to(tensor.device if on_device else "cpu")


class ModelSwitch:
    """Another forward for each model that trains: under autocast, or in float32."""

    first, warm = 3, 4

    def __init__(self, lend: Callable[[Any, Any], Callable[[], None]]) -> None:
        self._lend = lend
        self._models: list[Any] = []
        self._lent: list[Callable[[], None]] = []
        self._seen = subscribe("finding the models to try", model_begins=self._begins)

    def _begins(self, call: Any) -> None:
        import torch

        if torch.is_grad_enabled() and not any(one is call.module for one in self._models):
            self._models.append(call.module)

    def on(self) -> None:
        import torch

        self._seen.remove()  # models are called as without us while they are timed
        if not self._models:
            raise ValueError("no model was called")
        self._lent = [self._lend(torch, one) for one in self._models]

    def off(self) -> None:
        lent, self._lent = self._lent, []
        for give_back in lent:
            give_back()

    def close(self) -> None:
        self._seen.remove()
        self.off()


class LoaderSwitch:
    """Batches of a loader with other settings, over the same data. Its workers stay between two times of being on."""

    first = 8

    def __init__(self, settings: Mapping[str, Any], live: Any) -> None:
        names = {"num_workers": "workers", "persistent_workers": "persistent", "pin_memory": "pin"}
        self._change = {names[key]: value for key, value in settings.items() if key in names}
        self.warm = 4 + 3 * int(settings.get("num_workers") or 0)
        self.error = ""
        self._is_on = False
        self._training = TrainingLoader(live.backwards)
        self._made: Any = None
        self._iterator: Any = None
        self._loader: Any = None
        self._diversion = Diversion(self._give, live.loaders)
        self._diversion.install(None)

    def on(self) -> None:
        self._is_on = True

    def off(self) -> None:
        self._is_on = False

    @property
    def turns_of_a_pass(self) -> int:
        """Where the start of a pass is what changes, whole passes must be timed; else any turns will do."""
        if set(self._change) != {"persistent"} or self._loader is None:
            return 1
        try:
            return max(1, len(self._loader))
        except TypeError:
            raise ValueError("how long a pass is cannot be known") from None

    def _give(self, iterator: Any, loader: Any, ask: Callable[[], Any]) -> Any:
        if self._loader is None and self._training.is_it(loader):
            self._loader = loader
        if not self._is_on or self.error or loader is not self._loader:
            return ask()
        try:
            return self._next()
        except Exception as fault:  # the pipeline's own: a dataset that fails in a worker
            self.error = f"{type(fault).__name__}: {fault}".split("\n")[0][:200]
            return ask()

    def _next(self) -> Any:
        for _ in range(2):
            if self._iterator is None:
                self._begin()
            try:
                return self._iterator._next_data()
            except StopIteration:
                self._begin()
        raise RuntimeError("it gives no batches")

    def _begin(self) -> None:
        if self._made is None:
            now = LoaderSettings.of(self._loader)
            workers = int(self._change.get("workers", now.workers))
            self._made = loader_like(self._loader, replace(now.with_workers(workers), **self._change))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self._iterator is not None and self._made.persistent_workers:
                self._iterator._reset(self._made)
            else:
                self._iterator = None
                self._iterator = self._made._get_iterator()
        self._diversion.own.add(self._iterator)

    def close(self) -> None:
        self.off()
        self._diversion.remove()
        shut = getattr(self._iterator, "_shutdown_workers", None)
        if shut is not None:
            shut()
        self._iterator = self._made = None
