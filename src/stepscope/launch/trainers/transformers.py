"""The boundaries of a Hugging Face Trainer: training, evaluation, prediction, saving; and what `Trainer.log` logs."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.trainers.boundaries import Boundaries
from stepscope.launch.trainers.wrap_method import after, around
from stepscope.launch.transformers_facts import beside_ours, model_facts, named_metrics, settings_of

NAME = "Transformers"


def follow(imports: Imports, installed: Installed, boundaries: Boundaries) -> None:
    """Wait for the Trainer, and for the names that `report_to` may be given."""
    imports.when("transformers.trainer", lambda module: _Follower(boundaries).hook(installed))
    imports.when("transformers.integrations.integration_utils", partial(_make_known, installed))


class _Follower:
    def __init__(self, boundaries: Boundaries) -> None:
        self._boundaries = boundaries

    def hook(self, installed: Installed) -> None:
        around(installed, "transformers.trainer:Trainer._inner_training_loop", self._trains)
        around(installed, "transformers.trainer:Trainer.training_step", self._steps)
        around(installed, "transformers.trainer:Trainer.evaluation_loop", self._evaluates)
        around(installed, "transformers.trainer:Trainer.prediction_loop", self._evaluates)
        around(installed, "transformers.trainer:Trainer._save_checkpoint", self._saves)
        after(installed, "transformers.trainer:Trainer.predict", self._predicted)
        after(installed, "transformers.trainer:Trainer.log", self._logged)
        around(installed, "transformers.trainer:Trainer.log", self._hands_on)
        around(installed, "transformers.trainer_callback:CallbackHandler.on_predict", self._hands_on)

    # -- stages ---------------------------------------------------------------------------------------------------

    def _trains(self, trainer: Any, *args: Any, **kwargs: Any) -> Callable[[], None]:
        boundaries = self._boundaries
        boundaries.count_by(lambda: int(trainer.state.global_step))
        boundaries.settings(settings_of(trainer.args) | model_facts(trainer.model))
        boundaries.chose_cpu(trainer.args.device.type == "cpu")
        leave = boundaries.enter("training", NAME)
        boundaries.works_in(_users_part(trainer))
        boundaries.divides_losses(True)

        def over() -> None:
            boundaries.divides_losses(False)
            leave()

        return over

    def _steps(self, *args: Any, **kwargs: Any) -> None:
        self._boundaries.step_begins()

    def _evaluates(
        self,
        trainer: Any,
        dataloader: Any = None,
        description: Any = None,
        prediction_loss_only: Any = None,
        ignore_keys: Any = None,
        metric_key_prefix: str = "eval",
    ) -> Callable[[], None]:
        leave = self._boundaries.enter("test" if metric_key_prefix == "test" else "validation", NAME)
        self._boundaries.has_results = True  # the Trainer measures; nothing is to be guessed from operations
        return leave

    def _saves(self, *args: Any, **kwargs: Any) -> None:
        self._boundaries.step_is_over()

    # -- values ---------------------------------------------------------------------------------------------------

    def _predicted(self, result: Any, trainer: Any, *args: Any, **kwargs: Any) -> None:
        metrics = getattr(result, "metrics", None)
        if isinstance(metrics, Mapping) and trainer.state.is_world_process_zero and not _reports_itself(trainer):
            self._boundaries.measured(named_metrics(metrics)[0], int(trainer.state.global_step))

    def _logged(self, result: Any, trainer: Any, logs: Any, *args: Any, **kwargs: Any) -> None:
        if not isinstance(logs, Mapping) or _reports_itself(trainer) or not trainer.state.is_world_process_zero:
            return
        series, overall = named_metrics(logs)
        self._boundaries.measured(beside_ours(series), int(trainer.state.global_step))
        self._boundaries.summary(overall)

    def _hands_on(self, *args: Any, **kwargs: Any) -> Callable[[], None]:
        """While it logs or hands out predictions, what reaches TensorBoard or W&B comes from it and is heard here."""
        before, self._boundaries.is_logging = self._boundaries.is_logging, True

        def over() -> None:
            self._boundaries.is_logging = before

        return over


def _users_part(trainer: Any) -> Any:
    """The user's own function that gives the loss: of their Trainer, or else of their model."""
    from stepscope.record.observers.own_frames import is_own  # brings torch, which the script has by now

    kind = type(trainer)
    parts = (kind.training_step, kind.compute_loss, type(trainer.model).forward)
    return next((one for one in parts if is_own(inspect.unwrap(one).__code__)), kind.compute_loss)


def _reports_itself(trainer: Any) -> bool:
    """Whether a StepscopeCallback records all of this into a run that the script opened."""
    callbacks = getattr(getattr(trainer, "callback_handler", None), "callbacks", ())
    ours = [one for one in callbacks if type(one).__module__ == "stepscope.integrations.transformers"]
    return any(one.run is not None and not one.run.is_launched for one in ours)


def _make_known(installed: Installed, module: Any) -> None:
    """`report_to="stepscope"` works without importing Stepscope. The callback is found by its name: it lies above
    us."""
    known = module.INTEGRATION_TO_CALLBACK
    ours = sys.modules.get("stepscope.integrations.transformers")
    if ours is not None and not hasattr(ours, "StepscopeCallback"):
        return  # it is being imported, which is why transformers is; it makes its name known itself
    if "stepscope" not in known:
        known["stepscope"] = import_module("stepscope.integrations.transformers").StepscopeCallback
        installed.add(lambda: known.pop("stepscope", None))
