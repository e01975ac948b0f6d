"""Lightning's boundaries (fitting, sanity check, validation, test, epochs, tuning), and what `self.log` logs.

Both names of the package, `lightning.pytorch` and `pytorch_lightning`, are different classes: each is followed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from stepscope import fence
from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.trainers.boundaries import Boundaries, Stage
from stepscope.launch.trainers.wrap_method import after, around

NAME = "Lightning"
_PACKAGES = ("lightning.pytorch", "pytorch_lightning")
_LAUNCHER = "lightning.fabric.strategies.launchers.subprocess_script"
_CONNECTOR = "lightning.pytorch.trainer.connectors.logger_connector.logger_connector"
_LOOKING_FOR_THE_BEST = {
    "callbacks.early_stopping:EarlyStopping": "_evaluate_stopping_criteria",
    "callbacks.model_checkpoint:ModelCheckpoint": "check_monitor_top_k",
}
"""Callbacks, with their method that gets each new value as the last of its arguments."""
_STAGES: dict[str, Stage] = {"sanity_check": "sanity check", "validate": "validation", "test": "test"}


def follow(imports: Imports, installed: Installed, boundaries: Boundaries) -> None:
    """Wait for either package; its loops are there once it has been imported."""
    for package in _PACKAGES:
        imports.when(package, lambda module: _Follower(installed, boundaries).hook(module))


def fabric_of(package: ModuleType) -> Any:
    """The module of Lightning's smaller half that starts ranks, for Fabric itself."""
    from importlib import import_module

    fabric = "lightning.fabric" if package.__name__.startswith("lightning.") else "lightning_fabric"
    return import_module(f"{fabric}.strategies.launchers.subprocess_script")


class _Follower:
    def __init__(self, installed: Installed, boundaries: Boundaries) -> None:
        self._installed = installed
        self._boundaries = boundaries
        self._seeing: WeakKeyDictionary[Any, Callable[[float], None]] = WeakKeyDictionary()

    def hook(self, package: ModuleType) -> None:
        from importlib import import_module

        def part(name: str) -> Any:
            return import_module(f"{package.__name__}.{name}")  # part of what is imported already

        def stand(how: Any, address: str, method: str, heard: Callable[..., Any]) -> None:
            module, _, kind = address.partition(":")
            how(self._installed, f"lightning.pytorch.{address}.{method}", heard, getattr(part(module), kind))

        stand(around, "loops.fit_loop:_FitLoop", "run", self._fit)
        stand(around, "loops.fit_loop:_FitLoop", "on_advance_end", self._epoch)
        stand(around, "loops.evaluation_loop:_EvaluationLoop", "run", self._evaluate)
        stand(around, "loops.prediction_loop:_PredictionLoop", "run", self._predict)
        # `Tuner` works through these callbacks too.
        stand(around, "callbacks.lr_finder:LearningRateFinder", "lr_find", self._tune)
        stand(around, "callbacks.batch_size_finder:BatchSizeFinder", "scale_batch_size", self._tune)
        stand(around, "trainer.connectors.accelerator_connector:_AcceleratorConnector", "__init__", self._choose)
        for callback, compares in _LOOKING_FOR_THE_BEST.items():
            stand(after, callback, "__init__", self._monitors)
            stand(after, callback, compares, self._compared)
        self._hear(part("trainer.connectors.logger_connector.logger_connector")._LoggerConnector)
        for launcher in (fabric_of(package), part("strategies.launchers.subprocess_script")):
            self._lead_ranks(launcher)

    def _lead_ranks(self, launcher: Any) -> None:
        """With `ddp` the script is started again for every rank but the first; those are watched too."""
        boundaries = self._boundaries

        def led(command: Any) -> Any:
            given = fence.call("leading a rank of Lightning's", boundaries.rank_command, list(command))
            return command if given is None else given

        def basic(start: Any) -> Any:
            return wraps(start)(lambda: led(start()))

        def hydra(start: Any) -> Any:
            @wraps(start)
            def with_folder(*args: Any, **kwargs: Any) -> Any:
                command, folder = start(*args, **kwargs)
                return led(command), folder

            return with_folder

        self._installed.wrap(f"{_LAUNCHER}:_basic_subprocess_cmd", basic, launcher)
        self._installed.wrap(f"{_LAUNCHER}:_hydra_subprocess_cmd", hydra, launcher)

    # -- stages ---------------------------------------------------------------------------------------------------

    def _fit(self, loop: Any) -> Callable[[], None]:
        trainer = loop.trainer
        kind = type(trainer.lightning_module)
        self._boundaries.works_in(kind.training_step, kind.validation_step)
        self._boundaries.steps_itself(bool(trainer.lightning_module.automatic_optimization))
        accumulates = trainer.accumulate_grad_batches > 1 and trainer.lightning_module.automatic_optimization
        self._boundaries.divides_losses(bool(accumulates))
        self._boundaries.count_by(lambda: int(loop.epoch_loop._batches_that_stepped))
        fence.call("reading hyper-parameters", self._settings, trainer)
        return self._boundaries.enter("training", NAME)

    def _epoch(self, loop: Any) -> None:
        self._boundaries.epoch_is_over()

    def _evaluate(self, loop: Any) -> Callable[[], None]:
        stage = getattr(loop.trainer.state.stage, "value", "validate")
        return self._boundaries.enter(_STAGES.get(stage, "validation"), NAME)

    def _predict(self, loop: Any) -> Callable[[], None]:
        return self._boundaries.enter("prediction", NAME)

    def _tune(self, *args: Any, **kwargs: Any) -> Callable[[], None]:
        return self._boundaries.enter("tuning", NAME)

    def _choose(self, connector: Any, *args: Any, **kwargs: Any) -> None:
        """`accelerator="cpu"`; with "auto" the same script would use a GPU where there is one."""
        accelerator = kwargs.get("accelerator", "auto")
        self._boundaries.chose_cpu(accelerator == "cpu" or type(accelerator).__name__ == "CPUAccelerator")

    # -- callbacks that look for the best value -------------------------------------------------------------------

    def _monitors(self, result: Any, callback: Any, *args: Any, **kwargs: Any) -> None:
        name, mode = callback.monitor, callback.mode
        if isinstance(name, str) and mode in ("min", "max"):
            self._seeing[callback] = self._boundaries.monitors(type(callback).__name__, name, mode)

    def _compared(self, result: Any, callback: Any, *args: Any, **kwargs: Any) -> None:
        """The callback has read the value itself, so the device is not made to wait for it once more."""
        value = kwargs.get("current", args[-1] if args else None)
        if callback in self._seeing and value is not None:
            self._seeing[callback](float(value))

    # -- settings and values --------------------------------------------------------------------------------------

    def _settings(self, trainer: Any) -> None:
        """What `save_hyperparameters` keeps, of the module and of its data."""
        for holder in (trainer.lightning_module, trainer.datamodule):
            if holder is not None and getattr(holder, "_log_hyperparams", False):
                values = {k: v for k, v in holder.hparams_initial.items() if not str(k).startswith("_")}
                self._boundaries.settings(values)

    def _hear(self, connector: Any) -> None:
        """`log_metrics` is called whether or not there is a logger, at the pace of `log_every_n_steps`."""
        boundaries = self._boundaries

        def layer(log: Any) -> Any:
            @wraps(log)
            def log_metrics(this: Any, metrics: Any, step: Any = None) -> Any:
                fence.call("recording what Lightning logs", self._logged, this.trainer, metrics, step)
                before, boundaries.is_logging = boundaries.is_logging, True
                try:
                    return log(this, metrics, step)
                finally:
                    boundaries.is_logging = before

            return log_metrics

        self._installed.wrap(f"{_CONNECTOR}:_LoggerConnector.log_metrics", layer, connector)

    def _logged(self, trainer: Any, metrics: Any, step: Any) -> None:
        if not isinstance(metrics, Mapping) or not metrics or self._boundaries.stage == "tuning":
            return
        if not trainer.is_global_zero:  # every rank would log the same
            return
        if any(getattr(logger, "writes_to_stepscope", False) for logger in trainer.loggers):
            return  # a Stepscope logger keeps them
        values = dict(metrics)
        own = values.pop("step", None) if step is None else step
        values.setdefault("epoch", trainer.current_epoch)
        at = trainer.fit_loop.epoch_loop._batches_that_stepped if own is None else own
        self._boundaries.logged(values, int(at))
