"""`wandb.keras`: a callback that logs Keras' own numbers to the open run, under W&B's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import keras

from stepscope import fence
from stepscope.wandb.open_runs import the_run

__all__ = ["WandbMetricsLogger"]


class WandbMetricsLogger(keras.callbacks.Callback):  # type: ignore[misc]
    """Logs `epoch/...` after each epoch, and `batch/...` every `log_freq` batches ("batch" means every one).

    model.fit(x, y, callbacks=[WandbMetricsLogger(log_freq=10)])
    """

    def __init__(self, log_freq: str | int = "epoch", initial_global_step: int = 0) -> None:
        super().__init__()
        run = the_run("keras.WandbMetricsLogger")
        self._every = 1 if log_freq == "batch" else log_freq if isinstance(log_freq, int) else 0
        self._batches = initial_global_step
        for part, count in (("batch", "batch_step"), ("epoch", "epoch")):
            run.define_metric(f"{part}/{count}")
            run.define_metric(f"{part}/*", step_metric=f"{part}/{count}")

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        self._log("epoch", {**(logs or {}), "epoch": epoch})

    def on_train_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        if self._every and batch % self._every == 0:
            self._log("batch", {**(logs or {}), "batch_step": self._batches})
        self._batches += 1

    @fence.fenced("wandb.keras.WandbMetricsLogger")
    def _log(self, part: str, values: dict[str, Any]) -> None:
        rate = getattr(self.model.optimizer, "learning_rate", None)
        if rate is not None:
            values["learning_rate"] = float(rate)
        the_run("keras").log({f"{part}/{name}": value for name, value in values.items()})
