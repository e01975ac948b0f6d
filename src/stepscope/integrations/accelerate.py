"""Accelerate: a tracker for `Accelerator(log_with=...)`.

    from stepscope.integrations.accelerate import StepscopeTracker

    accelerator = Accelerator(log_with=StepscopeTracker("digits"))
    accelerator.init_trackers("digits", config={"lr": 1e-3})
    accelerator.log({"loss": loss}, step=step)
    accelerator.end_training()

Versions of Accelerate with named trackers accept `log_with="stepscope"` once this module is imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from accelerate import tracking
from accelerate.tracking import GeneralTracker, on_main_process

from stepscope.fence import fenced
from stepscope.integrations._open_run import open_run
from stepscope.launch.trainers.boundaries import beside_ours
from stepscope.track.media import Image, Several, Table
from stepscope.track.run import Run

__all__ = ["StepscopeTracker", "register"]


class StepscopeTracker(GeneralTracker):  # type: ignore[misc]
    """Logs what an Accelerator logs to a run; on the main process only.

    `project` and the rest are arguments of `stepscope.init`. A run that is already open is used, and left open by
    `end_training`.
    """

    name = "stepscope"
    requires_logging_directory = False
    main_process_only = True

    def __init__(
        self,
        project: str | None = None,
        *,
        run_name: str | None = None,
        tags: str | Iterable[str] | None = None,
        notes: str = "",
        group: str | None = None,
        dir: str | os.PathLike[str] | None = None,
        resume: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__()
        self._named: dict[str, Any] = {
            "project": project, "name": run_name, "tags": tags, "notes": notes, "group": group, "dir": dir,
            "resume": resume,
        }  # fmt: skip
        self._run: Run | None = None
        self._is_ours = False

    @on_main_process  # type: ignore[untyped-decorator]
    def start(self) -> None:
        """Open the run; called by `init_trackers`, or in older versions on first use."""
        from stepscope.track.session import current

        before = current()
        self._run = open_run(self, self._named)
        self._is_ours = self._run is not before

    @property
    def tracker(self) -> Run | None:
        """The run: `accelerator.get_tracker("stepscope").tracker`, or with `unwrap=True`."""
        if self._run is None:
            self.start()
        return self._run

    @on_main_process  # type: ignore[untyped-decorator]
    @fenced("recording the configuration")
    def store_init_configuration(self, values: Mapping[str, Any]) -> None:
        run = self.tracker
        if run is not None:
            run.config.update(values)

    @on_main_process  # type: ignore[untyped-decorator]
    @fenced("recording what Accelerate logs")
    def log(self, values: Mapping[str, Any], step: int | None = None, **more: Any) -> None:
        run = self.tracker
        if run is not None:
            run.log(beside_ours(values, "accelerate") if run.is_launched else values, step=step)

    @on_main_process  # type: ignore[untyped-decorator]
    @fenced("recording images")
    def log_images(self, values: Mapping[str, Any], step: int | None = None, **more: Any) -> None:
        """`{"samples": [array or PIL image, ...]}`; a list is shown side by side."""
        run = self.tracker
        if run is not None:
            run.log({name: Several([Image(one, **more) for one in images]) for name, images in values.items()}, step)

    @on_main_process  # type: ignore[untyped-decorator]
    @fenced("recording a table")
    def log_table(
        self,
        table_name: str,
        columns: Sequence[str] | None = None,
        data: Sequence[Sequence[Any]] | None = None,
        dataframe: Any = None,
        step: int | None = None,
        **more: Any,
    ) -> None:
        """A table from `columns` and rows of `data`, or from a data frame."""
        run = self.tracker
        if run is not None:
            table = Table(dataframe) if dataframe is not None else Table(data, columns=columns)
            run.log({table_name: table}, step)

    @on_main_process  # type: ignore[untyped-decorator]
    @fenced("finishing the run")
    def finish(self) -> None:
        if self._run is not None and self._is_ours:
            self._run.finish()


def register() -> None:
    """Register `log_with="stepscope"` if Accelerate supports named third-party trackers (since 1.14)."""
    known = getattr(tracking, "LOGGER_TYPE_TO_CLASS", {})
    if hasattr(tracking, "register_tracker_class") and StepscopeTracker.name not in known:
        tracking.register_tracker_class(StepscopeTracker)


register()
