"""Accelerate: what an Accelerator logs, and that it divides the losses of accumulated batches.

The loop is the user's own; where its steps and evaluations are is seen as in any loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.accelerate_facts import Preparing
from stepscope.launch.trainers.boundaries import Boundaries
from stepscope.launch.trainers.wrap_method import after, around

NAME = "Accelerate"


def follow(imports: Imports, installed: Installed, boundaries: Boundaries) -> None:
    """Wait for the Accelerator, and for the names that `log_with` may be given."""
    imports.when("accelerate.accelerator", lambda module: _Follower(boundaries).hook(installed))
    imports.when("accelerate.tracking", lambda module: _make_known(module, installed))


class _Follower:
    def __init__(self, boundaries: Boundaries) -> None:
        self._boundaries = boundaries

    def hook(self, installed: Installed) -> None:
        around(installed, "accelerate.accelerator:Accelerator.backward", self._backward)
        Preparing(self._boundaries).hook(installed)
        after(installed, "accelerate.accelerator:Accelerator.log", self._logged)
        around(installed, "accelerate.accelerator:Accelerator.log", self._hands_on)
        after(installed, "accelerate.accelerator:Accelerator.init_trackers", self._configured)

    def _backward(self, accelerator: Any, *args: Any, **kwargs: Any) -> None:
        if accelerator.gradient_accumulation_steps > 1:
            self._boundaries.divides_losses(True)

    def _logged(self, result: Any, accelerator: Any, values: Any, step: Any = None, *args: Any, **kwargs: Any) -> None:
        if isinstance(values, Mapping) and accelerator.is_main_process and not _reports_itself(accelerator):
            self._boundaries.trainer = self._boundaries.trainer or NAME
            self._boundaries.logged(values, None if step is None else int(step))

    def _hands_on(self, *args: Any, **kwargs: Any) -> Callable[[], None]:
        """While it logs, what reaches TensorBoard or W&B comes from it and has been heard."""
        before, self._boundaries.is_logging = self._boundaries.is_logging, True

        def over() -> None:
            self._boundaries.is_logging = before

        return over

    def _configured(
        self, result: Any, accelerator: Any, project_name: Any, config: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        if isinstance(config, Mapping) and not _reports_itself(accelerator):
            self._boundaries.settings(config)


def _reports_itself(accelerator: Any) -> bool:
    """Whether a Stepscope tracker is among its trackers, which records all of this."""
    return any(getattr(one, "name", None) == "stepscope" for one in getattr(accelerator, "trackers", ()))


def _make_known(module: Any, installed: Installed) -> None:
    """`log_with="stepscope"` works without importing Stepscope, where names can be added."""
    known = getattr(module, "LOGGER_TYPE_TO_CLASS", None)
    if hasattr(module, "register_tracker_class") and isinstance(known, dict) and "stepscope" not in known:
        import_module("stepscope.integrations.accelerate")  # found by its name: it lies above us
        installed.add(lambda: known.pop("stepscope", None))
