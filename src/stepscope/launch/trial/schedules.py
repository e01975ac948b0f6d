"""Learning rate schedules stand still while something is tuned."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from stepscope.events import Installed
from stepscope.events.imports import Imports


def halt_schedules(imports: Imports, installed: Installed, is_tuning: Callable[[], bool]) -> None:
    """A pass continues until all is tried, and schedulers that know its length would raise at its end."""

    def layer(step: Any) -> Any:
        @wraps(step)
        def halted(scheduler: Any, *args: Any, **kwargs: Any) -> None:
            if not is_tuning():
                step(scheduler, *args, **kwargs)

        return halted

    def came(module: Any) -> None:
        kind = getattr(module, "LRScheduler", None) or module._LRScheduler
        installed.wrap("torch.optim.lr_scheduler:LRScheduler.step", layer, owner=kind)

    imports.when("torch.optim.lr_scheduler", came)
