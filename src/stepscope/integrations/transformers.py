"""Hugging Face `Trainer`: what it logs, measures and saves, recorded as a run.

    import stepscope.integrations.transformers                      # registers the name
    args = TrainingArguments(..., report_to="stepscope")

or, with more control:

    trainer = Trainer(..., callbacks=[StepscopeCallback(project="bert", tags=["baseline"])])

Under `stepscope run` the name is registered without the import, and a script without `report_to` is recorded too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from transformers import TrainerCallback
from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK

from stepscope.errors import UsageError
from stepscope.fence import fenced
from stepscope.integrations._open_run import open_run
from stepscope.launch.transformers_facts import model_facts, named_metrics, settings_of
from stepscope.track.run import Run

__all__ = ["StepscopeCallback", "register"]

CHECKPOINTS = ("no", "copy", "reference")
CHECKPOINTS_VARIABLE = "STEPSCOPE_CHECKPOINTS"


class StepscopeCallback(TrainerCallback):  # type: ignore[misc]
    """Records a Trainer's arguments, model config, logs and evaluations as a run; optionally its checkpoints.

    The open run is used if there is one, else one is opened: the arguments are those of `stepscope.init`. With
    `checkpoints="copy"` every checkpoint becomes a version of the artifact `checkpoint`, with `"reference"` only its
    path and hash are recorded; the variable STEPSCOPE_CHECKPOINTS does the same if `report_to` creates the callback.

        Trainer(model, args, train_dataset=data, callbacks=[StepscopeCallback(project="bert", checkpoints="copy")])
    """

    def __init__(
        self,
        *,
        project: str | None = None,
        name: str | None = None,
        tags: str | Iterable[str] | None = None,
        notes: str = "",
        group: str | None = None,
        dir: str | os.PathLike[str] | None = None,
        resume: str | os.PathLike[str] | None = None,
        checkpoints: str | None = None,
    ) -> None:
        self._named: dict[str, Any] = {
            "project": project, "name": name, "tags": tags, "notes": notes, "group": group, "dir": dir,
            "resume": resume,
        }  # fmt: skip
        self._checkpoints = _checked(checkpoints or os.environ.get(CHECKPOINTS_VARIABLE) or "no")
        self._run: Run | None = None
        self._last: dict[str, Any] = {}

    @property
    def run(self) -> Run | None:
        """The run, once the training has started."""
        return self._run

    # -- the beginning --------------------------------------------------------------------------------------------

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **more: Any) -> None:
        if not state.is_world_process_zero:
            return
        if state.is_hyper_param_search and self._run is not None:  # each trial is a run
            self._run.finish()
            self._run = None
        if self._run is None or self._run.is_finished:
            self._run = open_run(self, self._named | _names_from(args, state, self._named), afresh=True)
        self._describe(self._run, args, state, model)

    @fenced("recording the Trainer's settings")
    def _describe(self, run: Run, args: Any, state: Any, model: Any) -> None:
        if run.attempt and state.global_step:  # resumed, and from a checkpoint that may be older than the last point
            run.rewind(state.global_step)
        run.config.update(settings_of(args))
        if isinstance(state.trial_params, Mapping):
            run.config.update(state.trial_params)
        if model is not None:
            run.config.update(model_facts(model))
        self._say_what_is_best(run, args)

    def _say_what_is_best(self, run: Run, args: Any) -> None:
        run.define("eval/loss", summary="min", goal="min")
        chosen = args.metric_for_best_model
        if chosen is not None and args.greater_is_better is not None:
            goal = "max" if args.greater_is_better else "min"
            series, _ = named_metrics({chosen if chosen.startswith("eval_") else f"eval_{chosen}": 0.0})
            for name in series:
                run.define(name, summary=goal, goal=goal)

    # -- while it runs --------------------------------------------------------------------------------------------

    @fenced("recording the Trainer's log")
    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, model: Any = None, **more: Any) -> None:
        if state.is_world_process_zero and logs:
            self._record(args, state, logs)

    @fenced("recording the Trainer's predictions")
    def on_predict(self, args: Any, state: Any, control: Any, metrics: Any = None, **more: Any) -> None:
        if state.is_world_process_zero and metrics:
            self._record(args, state, metrics)

    def _record(self, args: Any, state: Any, logs: Mapping[str, Any]) -> None:
        run = self._run
        if run is None or run.is_finished:  # an evaluation without a training
            run = self._run = open_run(self, self._named | _names_from(args, state, self._named))
            run.config.update(settings_of(args))
        series, overall = named_metrics(logs)
        self._last |= series
        if run.is_launched:  # `stepscope run` hears the Trainer itself
            return
        if series:
            run.log(series, step=state.global_step)
        if overall:
            run.summary.update(overall)

    @fenced("keeping a checkpoint")
    def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        run = self._run
        if self._checkpoints == "no" or run is None or not state.is_world_process_zero:
            return
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if not folder.is_dir():  # a search puts each trial's into a separate folder
            folder = Path(args.output_dir) / f"run-{state.trial_name}" / folder.name
        if not folder.is_dir():
            return
        best = state.best_model_checkpoint
        is_best = best is not None and Path(best).name == folder.name
        run.log_artifact(
            folder,
            "checkpoint",
            "model",
            aliases=[f"step-{state.global_step}", *(["best"] if is_best else [])],
            metadata={name: value for name, value in self._last.items() if isinstance(value, int | float)},
            reference=self._checkpoints == "reference",
        )

    @fenced("recording the Trainer's end")
    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        run = self._run
        if run is None or not state.is_world_process_zero:
            return
        if state.best_metric is not None:
            run.summary.update({"best_metric": state.best_metric})
        if state.best_model_checkpoint is not None:
            run.summary.update({"best_model_checkpoint": str(state.best_model_checkpoint)})


def _checked(choice: str) -> str:
    choice = choice.lower()
    if choice not in CHECKPOINTS:
        raise UsageError(
            f"checkpoints={choice!r} is unknown; use 'copy' (store their files), 'reference' (record "
            "their path) or 'no'"
        )
    return choice


def _names_from(args: Any, state: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """A name and a project from the training arguments, if the callback was given none."""
    found: dict[str, Any] = {}
    run_name = args.run_name if args.run_name != args.output_dir else None  # some versions fill it in
    if state.trial_name is not None:
        found = {"name": state.trial_name, "group": run_name or given["group"] or args.output_dir}
    elif run_name is not None and given["name"] is None:
        found["name"] = run_name
    project = getattr(args, "project", None)
    if given["project"] is None and project not in (None, "huggingface"):  # which is the default for all
        found["project"] = project
    return found


def register() -> None:
    """Register `report_to="stepscope"` with transformers; importing this module does it."""
    INTEGRATION_TO_CALLBACK["stepscope"] = StepscopeCallback


register()
