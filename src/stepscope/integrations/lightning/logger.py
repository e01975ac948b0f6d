"""`Trainer(logger=StepscopeLogger())`: `self.log` values, hyperparameters, media and checkpoints, in a run."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from stepscope.errors import UsageError
from stepscope.fence import fenced
from stepscope.integrations._open_run import open_run
from stepscope.integrations.lightning.bases import LoggerBase, rank_zero_experiment, rank_zero_only
from stepscope.track.children import is_child_process
from stepscope.track.media import Audio, Image, Several, Table, Video
from stepscope.track.run import Run

__all__ = ["StepscopeLogger"]


class StepscopeLogger(LoggerBase):  # type: ignore[misc]
    """A logger for `Trainer` and for `Fabric`.

    `project`, `name`, `tags`, `notes`, `group`, `dir`, `config` and `resume` are those of `stepscope.init`. A run that
    is already open (the script's own, or that of `stepscope run`) is used unchanged. `log_model=True` stores the last
    and the best checkpoint as artifacts at the end, "all" stores each one when it is saved. `log_graph=True` records
    one forward of the model's `example_input_array` when a fit starts, for the Model page. `save_dir` is where
    Lightning puts checkpoints: `<save_dir>/<project>/<run id>/checkpoints`. `prefix` is put before the names of
    metrics.
    """

    writes_to_stepscope = True
    """Read by `stepscope run`, which then leaves metrics to this logger."""

    def __init__(
        self,
        project: str | None = None,
        name: str | None = None,
        *,
        tags: str | Iterable[str] | None = None,
        notes: str = "",
        group: str | None = None,
        dir: str | os.PathLike[str] | None = None,
        config: Any = None,
        resume: str | os.PathLike[str] | None = None,
        save_dir: str | os.PathLike[str] = ".",
        log_model: bool | Literal["all"] = False,
        log_graph: bool = False,
        prefix: str = "",
    ) -> None:
        super().__init__()
        if log_model not in (True, False, "all"):
            raise UsageError(f"log_model={log_model!r} is not known; use True (at the end), 'all' (each), or False")
        self._named: dict[str, Any] = {
            "project": project, "name": name, "tags": tags, "notes": notes, "group": group, "dir": dir,
            "config": config, "resume": resume,
        }  # fmt: skip
        self._save_dir = os.fspath(save_dir)
        self._log_model = log_model
        self._log_graph = log_graph
        self._prefix = prefix
        self._run: Run | None = None
        self._checkpoints: dict[str, float] = {}
        self._callback: Any = None

    # -- the run --------------------------------------------------------------------------------------------------

    @property
    @rank_zero_experiment  # type: ignore[untyped-decorator]
    def experiment(self) -> Run:
        """The run itself: `self.logger.experiment.log({"samples": stepscope.Image(x)})`."""
        if self._run is None or self._run.is_finished:
            self._run = open_run(self, self._named, afresh=True)
        return self._run

    @property
    def name(self) -> str:
        """The project, after which Lightning names its checkpoint folder."""
        return self._place[0]

    @property
    def version(self) -> str:
        """The run's id."""
        return self._place[1]

    @property
    def _place(self) -> tuple[str, str]:
        if self._run is None:
            _ = self.experiment
        return ("stepscope", "run") if self._run is None else (self._run.project, self._run.id)

    @property
    def save_dir(self) -> str:
        return self._save_dir

    def __getstate__(self) -> dict[str, Any]:
        """When sent to a process that a strategy spawns: the run is opened first, so that the child can join it."""
        _ = self.experiment
        return {**self.__dict__, "_run": None}

    # -- what Lightning calls -------------------------------------------------------------------------------------

    @rank_zero_only  # type: ignore[untyped-decorator]
    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        if not isinstance(metrics, Mapping):
            raise UsageError(f"log_metrics got {type(metrics).__name__}; expected a dict of names and numbers")
        self._log(dict(metrics), step)

    def _log(self, values: Mapping[str, Any], step: int | None) -> None:
        named = {f"{self._prefix}{key}": value for key, value in values.items()} if self._prefix else values
        self.experiment.log(named, step)

    @rank_zero_only  # type: ignore[untyped-decorator]
    def log_hyperparams(self, params: dict[str, Any] | Namespace | None = None, metrics: Any = None) -> None:
        """Added to the run's config; `metrics`, as in TensorBoard's logger, to its summary."""
        self._settle(params, metrics)

    @fenced("log_hyperparams()")
    def _settle(self, params: Any, metrics: Any) -> None:
        if params:
            self.experiment.config.update(vars(params) if isinstance(params, Namespace) else dict(params))
        if isinstance(metrics, Mapping):
            self.experiment.summary.update(dict(metrics))

    @rank_zero_only  # type: ignore[untyped-decorator]
    def log_graph(self, model: Any, input_array: Any = None) -> None:
        """One forward of the model on `input_array`, recorded, for the Model page.

        Lightning calls this without an input; then it only runs with `log_graph=True`, once, on the model's
        `example_input_array`.
        """
        if input_array is None and self._log_graph:
            self._log_graph, input_array = False, getattr(model, "example_input_array", None)
        self._record(model, input_array)

    @fenced("log_graph()")
    def _record(self, model: Any, given: Any) -> None:
        if given is None:
            return
        import torch

        from stepscope.inspect.recording import record
        from stepscope.inspect.untouched import left_as_it_was

        inputs = given if isinstance(given, tuple) else (given,)
        moved = getattr(model, "_apply_batch_transfer_handler", None)
        with left_as_it_was(model), torch.no_grad(), record(model, backward=False) as step:
            if isinstance(given, dict):
                model(**given)
            else:
                model(*(moved(inputs) if moved is not None else inputs))
        self.experiment.log({"model": step}, 0)

    def save(self) -> None:
        """Nothing to save: values are written when they are logged."""

    @rank_zero_only  # type: ignore[untyped-decorator]
    def finalize(self, status: str) -> None:
        """The end of `fit` or `test`. The run stays open, as another may follow; it ends with the script."""
        if self._run is None:
            return
        if status == "success" and self._callback is not None and self._log_model:
            self._keep_checkpoints(self._callback)
        self._run.flush()
        if is_child_process() and not self._run.is_worker:  # nothing else ends it there
            self._run.finish("finished" if status == "success" else "failed")

    @rank_zero_only  # type: ignore[untyped-decorator]
    def after_save_checkpoint(self, checkpoint_callback: Any) -> None:
        self._callback = checkpoint_callback
        if self._log_model == "all" or (self._log_model and getattr(checkpoint_callback, "save_top_k", 1) == -1):
            self._keep_checkpoints(checkpoint_callback)

    @fenced("keeping checkpoints")
    def _keep_checkpoints(self, callback: Any) -> None:
        best, last = (str(getattr(callback, name, "") or "") for name in ("best_model_path", "last_model_path"))
        scores = {str(path): score for path, score in dict(getattr(callback, "best_k_models", {})).items()}
        for path in dict.fromkeys([*scores, last, best]):
            file = Path(path)
            if not path or not file.is_file() or self._checkpoints.get(path) == file.stat().st_mtime:
                continue
            self._checkpoints[path] = file.stat().st_mtime
            score = scores.get(path, getattr(callback, "best_model_score", None) if path == best else None)
            metadata = {
                "file": file.name,
                "score": None if score is None else float(score),
                "monitor": getattr(callback, "monitor", None),
            }
            aliases = ["latest", "best"] if path == best else ["latest"]
            self.experiment.log_artifact(file, "model", "model", aliases=aliases, metadata=metadata)

    # -- media, as other loggers of Lightning take them -----------------------------------------------------------

    @rank_zero_only  # type: ignore[untyped-decorator]
    def log_image(self, key: str, images: list[Any], step: int | None = None, **kwargs: Any) -> None:
        """`log_image("samples", [x[0], x[1]], caption=["a", "b"])`; more keywords are those of `stepscope.Image`."""
        self._log_several(Image, key, images, step, kwargs)

    @rank_zero_only  # type: ignore[untyped-decorator]
    def log_audio(self, key: str, audios: list[Any], step: int | None = None, **kwargs: Any) -> None:
        """`log_audio("speech", [wave], sample_rate=[16000])`."""
        self._log_several(Audio, key, audios, step, kwargs)

    @rank_zero_only  # type: ignore[untyped-decorator]
    def log_video(self, key: str, videos: list[Any], step: int | None = None, **kwargs: Any) -> None:
        """`log_video("rollouts", [frames], fps=[10])`."""
        self._log_several(Video, key, videos, step, kwargs)

    def _log_several(self, kind: Any, key: str, items: list[Any], step: int | None, more: Mapping[str, Any]) -> None:
        if not isinstance(items, list):
            raise UsageError(f"{key!r}: expected a list of things to log, got {type(items).__name__}; put it in a list")
        for name, values in more.items():
            if not isinstance(values, list) or len(values) != len(items):
                raise UsageError(f"{key!r}: {name} must be a list with one entry for each of the {len(items)} items")
        made = [kind(item, **{name: values[i] for name, values in more.items()}) for i, item in enumerate(items)]
        if made:
            self._log({key: Several(made)}, step)

    @rank_zero_only  # type: ignore[untyped-decorator]
    def log_table(
        self,
        key: str,
        columns: Sequence[str] | None = None,
        data: Sequence[Sequence[Any]] | None = None,
        dataframe: Any = None,
        step: int | None = None,
    ) -> None:
        """Rows and columns, or a data frame."""
        table = Table(dataframe) if dataframe is not None else Table(rows=list(data or []), columns=columns)
        self._log({key: table}, step)

    @rank_zero_only  # type: ignore[untyped-decorator]
    def log_text(
        self,
        key: str,
        columns: Sequence[str] | None = None,
        data: Sequence[Sequence[str]] | None = None,
        dataframe: Any = None,
        step: int | None = None,
    ) -> None:
        """The same for rows of texts."""
        self.log_table(key, columns, data, dataframe, step)
