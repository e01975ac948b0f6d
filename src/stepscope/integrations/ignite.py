"""Ignite: a logger with handlers, attached like Ignite's own.

from stepscope.integrations.ignite import StepscopeLogger

with StepscopeLogger(project="digits", config={"lr": 1e-3}) as logger:
    logger.attach_output_handler(
        trainer, Events.ITERATION_COMPLETED(every=10), tag="train", output_transform=lambda loss: {"loss": loss}
    )
    logger.attach_output_handler(
        evaluator, Events.COMPLETED, tag="val", metric_names="all",
        global_step_transform=global_step_from_engine(trainer, Events.ITERATION_COMPLETED),
    )
    logger.attach_opt_params_handler(trainer, Events.ITERATION_COMPLETED(every=10), optimizer=optimizer)
    trainer.run(loader, max_epochs=3)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ignite.engine import Engine
from ignite.handlers.base_logger import (
    BaseLogger,
    BaseOptimizerParamsHandler,
    BaseOutputHandler,
    BaseWeightsHandler,
    BaseWeightsScalarHandler,
)

from stepscope.errors import UsageError
from stepscope.fence import fenced
from stepscope.integrations._open_run import open_run
from stepscope.track.media import Histogram
from stepscope.track.run import Run

__all__ = [
    "GradsHistHandler",
    "GradsScalarHandler",
    "OptimizerParamsHandler",
    "OutputHandler",
    "StepscopeLogger",
    "WeightsHistHandler",
    "WeightsScalarHandler",
]


class StepscopeLogger(BaseLogger):  # type: ignore[misc]
    """Takes the arguments of `stepscope.init`; a run that is already open is used, and left open by `close`."""

    def __init__(self, project: str | None = None, name: str | None = None, **named: Any) -> None:
        from stepscope.track.session import current

        before = current()
        self.run: Run = open_run(self, {"project": project, "name": name, **named}, afresh=True)
        self._is_ours = self.run is not before
        if not self._is_ours and named.get("config"):
            self.run.config.update(named["config"])

    def close(self) -> None:
        """End the run, if this logger opened it."""
        if self._is_ours:
            self.run.finish()

    def log(self, values: dict[str, Any], step: int | None = None) -> None:
        """`run.log`, for handlers."""
        self.run.log(values, step)

    def _create_output_handler(self, *args: Any, **kwargs: Any) -> OutputHandler:
        return OutputHandler(*args, **kwargs)

    def _create_opt_params_handler(self, *args: Any, **kwargs: Any) -> OptimizerParamsHandler:
        return OptimizerParamsHandler(*args, **kwargs)


def _checked(logger: Any, handler: object) -> StepscopeLogger:
    if not isinstance(logger, StepscopeLogger):
        raise UsageError(
            f"{type(handler).__name__} was attached to {type(logger).__name__}; attach it with StepscopeLogger.attach"
        )
    return logger


def _number(engine: Engine, event_name: Any) -> int:
    return int(engine.state.get_event_attrib_value(event_name))


class OutputHandler(BaseOutputHandler):  # type: ignore[misc]
    """Logs an engine's output, its metrics and attributes of its state, as `tag/name`."""

    def __init__(
        self,
        tag: str,
        metric_names: str | list[str] | None = None,
        output_transform: Callable[[Any], Any] | None = None,
        global_step_transform: Callable[[Engine, Any], int] | None = None,
        state_attributes: list[str] | None = None,
    ) -> None:
        super().__init__(tag, metric_names, output_transform, global_step_transform, state_attributes)

    def __call__(self, engine: Engine, logger: Any, event_name: Any) -> None:
        logger = _checked(logger, self)
        values = self._setup_output_metrics_state_attrs(engine, log_text=True, key_tuple=False)
        step = self.global_step_transform(engine, event_name)
        if not isinstance(step, int):
            raise TypeError(
                f"global_step must be int, got {type(step)}; fix global_step_transform, which returns the step number"
            )
        logger.log(values, step)


class OptimizerParamsHandler(BaseOptimizerParamsHandler):  # type: ignore[misc]
    """Logs a setting of an optimizer, by group: `lr/group_0`."""

    def __call__(self, engine: Engine, logger: Any, event_name: Any) -> None:
        logger = _checked(logger, self)
        prefix = f"{self.tag}/" if self.tag else ""
        groups = self.optimizer.param_groups
        values = {f"{prefix}{self.param_name}/group_{i}": group[self.param_name] for i, group in enumerate(groups)}
        logger.log({key: float(value) for key, value in values.items()}, _number(engine, event_name))


class _WeightsHandler:
    """The base of the four handlers of weights and gradients."""

    kind = "weights"
    of_gradient = False

    @fenced("logging weights")
    def _log(self, engine: Any, logger: StepscopeLogger, event_name: Any, made: Callable[[Any], Any]) -> None:
        tag: str | None = getattr(self, "tag", None)
        prefix = f"{tag}/" if tag else ""
        values = {}
        for name, parameter in getattr(self, "weights"):  # noqa: B009
            tensor = parameter.grad if self.of_gradient else parameter.data
            if tensor is not None:
                values[f"{prefix}{self.kind}/{name.replace('.', '/')}"] = made(tensor)
        if values:
            logger.log(values, _number(engine, event_name))


class WeightsScalarHandler(BaseWeightsScalarHandler, _WeightsHandler):  # type: ignore[misc]
    """A number per parameter: its norm, or the result of `reduction`."""

    kind = "weights_norm"

    def __call__(self, engine: Engine, logger: Any, event_name: Any) -> None:
        self._log(engine, _checked(logger, self), event_name, lambda tensor: self.reduction(tensor.detach()))


class GradsScalarHandler(WeightsScalarHandler):
    """The same for gradients."""

    kind, of_gradient = "grads_norm", True


class WeightsHistHandler(BaseWeightsHandler, _WeightsHandler):  # type: ignore[misc]
    """A histogram of each parameter."""

    kind = "weights"

    def __call__(self, engine: Engine, logger: Any, event_name: Any) -> None:
        self._log(engine, _checked(logger, self), event_name, lambda tensor: Histogram(tensor.detach()))


class GradsHistHandler(WeightsHistHandler):
    """A histogram of each gradient."""

    kind, of_gradient = "grads", True
