"""`Trainer(callbacks=[StepscopeCallback()])`: findings, phases and per-step metrics of a fit, from inside."""

from __future__ import annotations

from typing import Any

from stepscope.fence import fenced
from stepscope.integrations.lightning.bases import CallbackBase
from stepscope.launch.callback_session import Inside
from stepscope.records import Finding

__all__ = ["StepscopeCallback"]


class StepscopeCallback(CallbackBase):  # type: ignore[misc]
    """Does what `stepscope run` does, for a script started with plain `python`.

    Findings are printed on stderr as they are proven and stored in the run; loss, gradient norm and learning rate of
    every step, time by phase, speed and memory are logged. The open run is used (from a `StepscopeLogger` or
    `stepscope.init`), else one is opened with `project` and `name`. Under `stepscope run` it does nothing.
    """

    def __init__(self, project: str | None = None, name: str | None = None, *, quiet: bool = False) -> None:
        super().__init__()
        self._named: dict[str, Any] = {"project": project, "name": name, "quiet": quiet}
        self._inside: Inside | None = None

    @property
    def findings(self) -> list[Finding]:
        """Of the last fit: `callback.findings[0].message`."""
        return [] if self._inside is None else self._inside.findings

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inside": None}  # a spawned process watches its own training

    @fenced("starting the watch")
    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Before optimizers are created, so that they are seen."""
        if stage != "fit":
            return
        for logger in trainer.loggers:  # a Stepscope logger opens the run, not the watch
            if getattr(logger, "writes_to_stepscope", False):
                _ = logger.experiment
        self._inside = Inside(**self._named)
        self._inside.begin()

    @fenced("explaining a crash")
    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        if self._inside is not None:
            self._inside.conclude(exception)

    @fenced("ending the watch")
    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if stage == "fit" and self._inside is not None:
            self._inside.conclude(None)
