"""Keras 3, on any of its backends: a callback for `fit`, `evaluate` and `predict`.

    from stepscope.integrations.keras import StepscopeCallback

    model.fit(x, y, epochs=5, validation_split=0.2, callbacks=[StepscopeCallback(project="digits")])

The steps and findings of a training on the torch backend come from `stepscope run`; this records what Keras itself
logs.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from typing import Any

import keras

from stepscope.errors import UsageError
from stepscope.fence import fenced
from stepscope.integrations._open_run import open_run
from stepscope.launch.keras_facts import fit_settings, model_facts, named_logs
from stepscope.track.run import Run

__all__ = ["StepscopeCallback"]


class StepscopeCallback(keras.callbacks.Callback):  # type: ignore[misc]
    """Records the model's and the optimizer's settings, and the logs of every epoch and of every `every` batches.

    `every=0` records epochs only. The open run is used if there is one, else one is opened: the other arguments are
    those of `stepscope.init`. The series `train/loss` has one point per batch (a running mean over the epoch, as Keras
    prints it); `epoch/loss` and `epoch/val_loss` have one per epoch.
    """

    def __init__(
        self,
        *,
        every: int = 1,
        project: str | None = None,
        name: str | None = None,
        tags: str | Iterable[str] | None = None,
        notes: str = "",
        group: str | None = None,
        dir: str | os.PathLike[str] | None = None,
        resume: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__()
        if isinstance(every, bool) or not isinstance(every, int) or every < 0:
            raise UsageError(f"every={every!r} must be a number of batches, or 0 for epochs only")
        self._every = every
        self._named: dict[str, Any] = {
            "project": project, "name": name, "tags": tags, "notes": notes, "group": group, "dir": dir,
            "resume": resume,
        }  # fmt: skip
        self.async_safe = (
            True  # so that Keras does not wait for the device for us; it may then call from another thread
        )
        self._run: Run | None = None
        self._lock = threading.Lock()
        self._before = 0
        """Batches of the finished epochs."""
        self._done = 0
        self._in_fit = False

    @property
    def run(self) -> Run | None:
        """The run, once the training has started."""
        return self._run

    # -- fit ------------------------------------------------------------------------------------------------------

    def on_train_begin(self, logs: Any = None) -> None:
        self._run = open_run(self, self._named)
        self._in_fit = True
        self._describe(self._run)

    @fenced("recording the settings of fit()")
    def _describe(self, run: Run) -> None:
        run.config.update(fit_settings(self.params) | model_facts(self.model))
        run.define("epoch/val_loss", summary="min", goal="min")

    @fenced("recording a batch")
    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        run, step = self._run, self._before + batch
        with self._lock:
            self._done = max(self._done, step + 1)
        if self._every and run is not None and logs and step % self._every == 0:
            run.log(named_logs(logs, "keras/" if run.is_launched else "train/"), step=step)

    @fenced("recording an epoch")
    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        run = self._run
        self._before = self._done
        if run is None:
            return
        values = named_logs(logs or {}, "epoch/")
        rate = learning_rate(self.model)
        if rate is not None:
            values["epoch/learning_rate"] = rate
        run.log({**values, "epoch": epoch}, step=max(self._done - 1, 0))

    @fenced("recording the end of fit()")
    def on_train_end(self, logs: Any = None) -> None:
        self._in_fit = False

    # -- evaluate -------------------------------------------------------------------------------------------------

    @fenced("recording an evaluation")
    def on_test_end(self, logs: Any = None) -> None:
        if self._in_fit or not logs:  # within fit() its results come with the epoch, as val_...
            return
        if self._run is None or self._run.is_finished:
            self._run = open_run(self, self._named)
        self._run.log(named_logs(logs, "eval/"), step=max(self._done - 1, 0))


def learning_rate(model: Any) -> float | None:
    """The current rate, read once per epoch."""
    rate = getattr(getattr(model, "optimizer", None), "learning_rate", None)
    return None if rate is None or isinstance(rate, Mapping) else float(keras.ops.convert_to_numpy(rate))
