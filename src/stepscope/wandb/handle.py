"""`wandb.Run`: W&B's run object over a Stepscope run. Disk errors never raise into the training."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.track.messages import say_once
from stepscope.track.steps import StepRefused
from stepscope.wandb import alerts, artifact_log, artifacts, files, metrics
from stepscope.wandb.facts import Facts
from stepscope.wandb.identity import Identity
from stepscope.wandb.rows import Rows
from stepscope.wandb.run_config import Config
from stepscope.wandb.run_summary import Summary
from stepscope.wandb.settings import Settings
from stepscope.wandb.watching import Watch
from stepscope.wandb.wording import instead_of, not_acted_on

if TYPE_CHECKING:
    from stepscope.track.run import Run as Recorded


class Run(Facts):
    """One training being recorded, with W&B's names. Created by `wandb.init`.

    with wandb.init(project="vae", config={"lr": 1e-3}) as run:
        run.log({"loss": 0.5})
    """

    def __init__(
        self,
        recorded: Recorded,
        config: Config,
        identity: Identity,
        settings: Settings,
        on_end: Callable[[Run], None],
    ) -> None:
        self._run = recorded
        self._config = config
        self._identity = identity
        self._settings = settings
        self._on_end = on_end
        self._rules = metrics.Rules()
        self._rows = Rows(self._write, self._refused, recorded.step)
        self._summary = Summary(
            recorded.summary, self._rules, ask=self._ask, step=lambda: self._rows.last_step, show=self._show
        )
        self._watch = Watch(lambda values: self.log(values, commit=False))
        self._files = files.Files(self)
        self._alerts = alerts.Alerts(recorded)
        self._first_step = recorded.step
        recorded.every(1.0, self._rows.tick, "writing a waiting row")
        recorded.before_end(self._last_words)

    # -- values -----------------------------------------------------------------------------------------------------

    def log(
        self, data: dict[str, Any], step: int | None = None, commit: bool | None = None, sync: bool | None = None
    ) -> None:
        """Record values: at the next step, at `step`, or with `commit=False` as part of the current row."""
        if self._run.is_finished:
            say_once("wandb finished", f"run {self.name!r} is finished; values logged to it now are not recorded")
            return
        if not isinstance(data, Mapping):
            self._refused("dict", f"log() takes a dict, not a {type(data).__name__}: wandb.log({{'loss': loss}})")
            return
        try:
            self._rows.log(data, step, commit)
        except StepRefused as reason:
            self._refused("step", str(reason))
        except Exception as fault:
            fence.report("wandb.log()", fault)

    def _write(self, row: dict[str, Any], step: int) -> None:
        self._rules.complete(row)
        self._summary.logged(row)
        self._run.log(row, step)

    def _show(self, values: dict[str, Any]) -> None:
        self._run.log(values, self._rows.step)

    def _refused(self, what: str, reason: str) -> None:
        self._run._sink.refused("log", what, reason)

    def _ask(self, name: str) -> Any:
        """A value that was on a device when it was logged, as the run has it now."""
        path = self._run.path
        if path is None:
            return None
        from stepscope.runs.read.folder import open_run

        self._run.flush()
        return fence.call("reading the summary", lambda: open_run(path).metric_summary(name).last)

    def define_metric(
        self,
        name: str,
        step_metric: str | metrics.Metric | None = None,
        step_sync: bool | None = None,
        hidden: bool | None = None,
        summary: str | None = None,
        goal: str | None = None,
        overwrite: bool | None = None,
        **kwargs: Any,
    ) -> metrics.Metric:
        """Define what a metric is drawn over and how it is summarized; `name` may end with `*`."""
        metric = metrics.made(name, step_metric, step_sync, hidden, summary, goal)
        self._rules.add(metric)
        self._run.define(name, summary=metrics.our_summary(metric), x=metric.step_metric, goal=metric.our_goal)
        return metric

    @property
    def step(self) -> int:
        """The step of the next values."""
        return self._rows.step

    @property
    def starting_step(self) -> int:
        """Where this attempt began: 0, or the step after the last one of the resumed run."""
        return self._first_step

    @property
    def config(self) -> Config:
        return self._config

    @property
    def config_static(self) -> dict[str, Any]:
        return self._config.as_dict()

    @property
    def summary(self) -> Summary:
        return self._summary

    # -- models, files, artifacts -----------------------------------------------------------------------------------

    def watch(
        self,
        models: Any,
        criterion: Any = None,
        log: str | None = "gradients",
        log_freq: int = 1000,
        idx: int | None = None,
        log_graph: bool = False,
    ) -> None:
        """Log histograms of a model's gradients, its parameters, or both, every `log_freq` batches."""
        if log_graph:
            not_acted_on("watch(log_graph=True)", "`stepscope run` and stepscope.record record the model's graph")
        self._watch.add(models, log, log_freq, idx)

    def unwatch(self, models: Any = None) -> None:
        """Stop watching these models, or all."""
        self._watch.remove(models)

    def save(
        self,
        glob_str: str | os.PathLike[str] | None = None,
        base_path: str | os.PathLike[str] | None = None,
        policy: str = "live",
        glob: bool = True,
    ) -> bool | list[str]:
        """Store files with the run: at once, and with "live" or "end" as they are when the run ends."""
        return self._files.save(glob_str, base_path, policy, glob)

    def restore(self, name: str, run_path: str | None = None, replace: bool = False, root: str | None = None) -> Any:
        """A file that was stored with this run or another, opened."""
        return files.restore(self, name, run_path, replace, root)

    def log_code(
        self,
        root: str | None = ".",
        name: str | None = None,
        include_fn: Callable[..., bool] = files.is_code,
        exclude_fn: Callable[..., bool] = files.is_ours,
    ) -> artifacts.Artifact | None:
        """Store the script's source files as an artifact of type "code"."""
        return files.log_code(self, root, name, include_fn, exclude_fn)

    def log_artifact(
        self,
        artifact_or_path: artifacts.Artifact | str | os.PathLike[str],
        name: str | None = None,
        type: str | None = None,
        aliases: list[str] | None = None,
        tags: list[str] | None = None,
    ) -> artifacts.Artifact:
        """Store an artifact, a file or a folder with the run, as the next version of its name."""
        return artifact_log.log(self._run, artifact_or_path, name, type, aliases, tags)

    def upsert_artifact(
        self,
        artifact_or_path: artifacts.Artifact | str,
        name: str | None = None,
        type: str | None = None,
        aliases: list[str] | None = None,
        distributed_id: str | None = None,
    ) -> artifacts.Artifact:
        """The same as `log_artifact`: what several processes add under one name become versions of it."""
        return self.log_artifact(artifact_or_path, name, type, aliases)

    finish_artifact = upsert_artifact

    def use_artifact(
        self,
        artifact_or_name: str | artifacts.Artifact,
        type: str | None = None,
        aliases: list[str] | None = None,
        use_as: str | None = None,
    ) -> artifacts.Artifact:
        """An artifact that this or another run of the store has logged: `name`, `name:v2`, `project/name:best`."""
        return artifact_log.use(self._run, artifact_or_name, type)

    def link_artifact(
        self, artifact: artifacts.Artifact, target_path: str, aliases: list[str] | None = None
    ) -> artifacts.Artifact:
        """Store the artifact again, under the name it is linked to."""
        return artifact_log.link(self._run, artifact, target_path, aliases)

    def log_model(
        self, path: str | os.PathLike[str], name: str | None = None, aliases: list[str] | None = None
    ) -> None:
        """Store a checkpoint as an artifact of type "model"."""
        self.log_artifact(path, name or f"run-{self.id}-{Path(path).name}", "model", aliases)

    def use_model(self, name: str) -> str:
        """The path of a stored model: its file, or the folder if it has several."""
        artifact = self.use_artifact(name)
        folder = artifact.download()
        return str(Path(folder) / artifact.only_file) if artifact.only_file else folder

    def link_model(
        self,
        path: str | os.PathLike[str],
        registered_model_name: str,
        name: str | None = None,
        aliases: list[str] | None = None,
    ) -> artifacts.Artifact | None:
        return self.log_artifact(path, registered_model_name, "model", aliases)

    def alert(self, title: str, text: str = "", level: Any = None, wait_duration: Any = None) -> None:
        """Send an alert; within `wait_duration` the same title is sent once."""
        self._alerts.add(title, text, level, wait_duration)

    def write_logs(self, text: str) -> None:
        self._run.log({"logs": text}, self._rows.step)

    def pin_config_keys(self, keys: Sequence[str] = ()) -> None:
        not_acted_on("pin_config_keys()", "columns are chosen on the Runs page")

    # -- its end ----------------------------------------------------------------------------------------------------

    def mark_preempting(self) -> None:
        """The run ends as preempted unless it ends otherwise."""
        self._run._preempted = True

    def finish(self, exit_code: int | None = None, quiet: bool | None = None) -> None:
        """End the run; a code other than 0 means that it failed."""
        self._run.finish(exit_code=exit_code)

    join = finish

    def _last_words(self) -> None:
        """Before the end is written, however it came."""
        self._rows.flush()
        self._watch.remove(None)
        self._files.keep_all()
        self._on_end(self)

    def _after_fork(self) -> None:
        self._rows.after_fork()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run.__exit__(kind, error, trace)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(instead_of(f"Run.{name}"))

    def __repr__(self) -> str:
        return f"<stepscope.wandb.Run {self.path!r}, step {self.step}>"
