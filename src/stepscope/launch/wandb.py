"""What a script sends to Weights & Biases, kept with the run as well. Nothing more is sent than the script sends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import ModuleType
from typing import Any

from stepscope import fence
from stepscope.launch.imports import Imports
from stepscope.record.restore import Installed

__all__ = ["watch_wandb"]

PREFIX = "wandb/"
_NUMBERS = (int, float)

Log = Callable[[Mapping[str, Any], "int | None"], None]


def watch_wandb(
    imports: Imports, installed: Installed, log: Log, settings: Callable[[Mapping[str, Any]], None]
) -> None:
    """Listen to `wandb.init` and to the `log` of the runs it makes, from the moment the script imports wandb."""
    imports.when("wandb", lambda module: _Listener(installed, log, settings).hook(module))


class _Listener:
    def __init__(self, installed: Installed, log: Log, settings: Callable[[Mapping[str, Any]], None]) -> None:
        self._installed = installed
        self._log = log
        self._settings = settings
        self._step = 0

    def hook(self, wandb: ModuleType) -> None:
        start = wandb.init

        @wraps(start)
        def init(*args: Any, **kwargs: Any) -> Any:
            run = start(*args, **kwargs)
            self._began(run, kwargs.get("config"))
            return run

        self._installed.patch(wandb, "init", init)
        kind = getattr(getattr(wandb, "sdk", None), "wandb_run", None)
        if kind is not None and "log" in kind.Run.__dict__:
            self._installed.patch(kind.Run, "log", self._both(kind.Run.__dict__["log"], bound=False))
        elif hasattr(wandb, "log"):  # no class to be seen: the function of the module, which scripts call most
            self._installed.patch(wandb, "log", self._both(wandb.log, bound=True))

    @fence.fenced("recording what goes to W&B")
    def _began(self, run: Any, given: Any) -> None:
        config = getattr(run, "config", None)
        values: Any = given
        if config is not None and hasattr(config, "keys"):
            values = {str(name): config[name] for name in config.keys()}  # noqa: SIM118
        if isinstance(values, Mapping):
            self._settings(values)

    def _both(self, log: Any, *, bound: bool) -> Any:
        @wraps(log)
        def both(*args: Any, **kwargs: Any) -> Any:
            result = log(*args, **kwargs)
            self._heard(*(args if bound else args[1:]), **kwargs)
            return result

        return both

    @fence.fenced("recording what goes to W&B")
    def _heard(self, data: Any = None, step: Any = None, commit: Any = None, *rest: Any, **more: Any) -> None:
        if not isinstance(data, Mapping):
            return
        self._step = self._step if step is None else int(step)
        values = {PREFIX + str(name): value for name, value in data.items() if _is_number(value)}
        if values:
            self._log(values, self._step)
        if step is None and commit is not False:
            self._step += 1


def _is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS) or (hasattr(value, "item") and getattr(value, "shape", None) in ((), (1,)))
