"""Keras 3: `fit`, `evaluate` and `predict`, what they log, and on the torch backend the steps of Keras' own optimizers.

On TensorFlow and JAX there is nothing to watch inside a step; what Keras logs is recorded all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from stepscope import fence
from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.keras_facts import fit_settings, model_facts, output_and_loss
from stepscope.launch.trainers.boundaries import Boundaries
from stepscope.launch.trainers.keras_steps import KerasSteps
from stepscope.launch.trainers.wrap_method import after, around

NAME = "Keras"


def follow(imports: Imports, installed: Installed, boundaries: Boundaries) -> None:
    """Wait for the parts of Keras that every backend has, and for those of torch."""
    logs, steps = _Logs(boundaries), KerasSteps()
    imports.when("keras.src.callbacks.callback_list", lambda module: logs.hook(installed))
    imports.when("keras.src.backend.torch.trainer", lambda module: _stages(installed, boundaries))
    imports.when("keras.src.optimizers.base_optimizer", lambda module: steps.hook(installed))


def _stages(installed: Installed, boundaries: Boundaries) -> None:
    def evaluates(*args: Any, **kwargs: Any) -> Callable[[], None]:
        leave = boundaries.enter("validation", NAME)
        boundaries.has_results = True  # Keras measures; nothing is to be guessed from operations
        return leave

    def fits(model: Any, *args: Any, **kwargs: Any) -> Callable[[], None]:
        leave = boundaries.enter("training", NAME)
        boundaries.works_in(type(model).train_step)
        if boundaries.facts is not None:
            boundaries.facts.output_and_loss = output_and_loss(model)
        return leave

    def predicts(*args: Any, **kwargs: Any) -> Callable[[], None]:
        return boundaries.enter("prediction", NAME)

    trainer = "keras.src.backend.torch.trainer:TorchTrainer"
    around(installed, f"{trainer}.fit", fits)
    around(installed, f"{trainer}.train_step", lambda *args, **kwargs: boundaries.step_begins())
    around(installed, f"{trainer}.evaluate", evaluates)
    around(installed, f"{trainer}.predict", predicts)


class _Logs:
    """What Keras tells its callbacks."""

    def __init__(self, boundaries: Boundaries) -> None:
        self._boundaries = boundaries
        self._fits = 0
        self._before = 0
        """Batches of the epochs that are over."""
        self._done = 0

    def hook(self, installed: Installed) -> None:
        callbacks = "keras.src.callbacks.callback_list:CallbackList"
        after(installed, f"{callbacks}.on_train_begin", self._train_begins)
        after(installed, f"{callbacks}.on_train_batch_end", self._batch_ends)
        after(installed, f"{callbacks}.on_epoch_end", self._epoch_ends)
        after(installed, f"{callbacks}.on_train_end", self._train_ends)
        after(installed, f"{callbacks}.on_test_end", self._test_ends)

    def _train_begins(self, result: Any, callbacks: Any, logs: Any = None) -> None:
        self._fits += 1
        self._boundaries.trainer = self._boundaries.trainer or NAME
        self._boundaries.settings(fit_settings(callbacks.params) | model_facts(callbacks.model))

    def _batch_ends(self, result: Any, callbacks: Any, batch: Any, logs: Any = None) -> None:
        self._done = max(self._done, self._before + int(batch) + 1)

    def _epoch_ends(self, result: Any, callbacks: Any, epoch: Any, logs: Any = None) -> None:
        self._before = self._done
        self._boundaries.epoch_is_over()
        if isinstance(logs, Mapping) and not _reports_itself(callbacks):
            named = {_named(str(name)): value for name, value in logs.items()}
            self._boundaries.measured({**_numbers(named), "epoch": int(epoch)}, max(self._done - 1, 0))

    def _train_ends(self, result: Any, callbacks: Any, logs: Any = None) -> None:
        self._fits = max(self._fits - 1, 0)

    def _test_ends(self, result: Any, callbacks: Any, logs: Any = None) -> None:
        if not self._fits and isinstance(logs, Mapping) and not _reports_itself(callbacks):
            named = {f"test/{name}": value for name, value in logs.items()}
            self._boundaries.measured(_numbers(named), max(self._done - 1, 0))


def _named(name: str) -> str:
    """`val_loss` is a result of evaluation; the rest are means over the epoch's batches."""
    return f"eval/{name.removeprefix('val_')}" if name.startswith("val_") else f"epoch/{name}"


def _numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    """As numbers, once an epoch: some versions hand over what still lies on a device."""
    found = {name: fence.call("reading what Keras logs", float, value) for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not None}


def _reports_itself(callbacks: Any) -> bool:
    ours = sys.modules.get("stepscope.integrations.keras")
    return ours is not None and any(isinstance(one, ours.StepscopeCallback) for one in callbacks.callbacks)
