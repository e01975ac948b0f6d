"""Lightning's base classes, of whichever package the script uses.

`lightning.pytorch` and `pytorch_lightning` are the same code under two names, with unrelated classes. Stepscope's
classes inherit from both if both are imported.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from stepscope.errors import MissingExtra

__all__ = ["CallbackBase", "LoggerBase", "ProfilerBase", "rank_zero_only"]

_PACKAGES = ("lightning.pytorch", "pytorch_lightning")


def _packages() -> list[str]:
    """Those the script has imported; else the first that is installed."""
    here = [name for name in _PACKAGES if name in sys.modules]
    if here:
        return here
    for name in _PACKAGES:
        if find_spec(name.partition(".")[0]) is not None:
            return [name]
    raise MissingExtra("stepscope.integrations.lightning", "lightning")


def _base(module: str, name: str) -> Any:
    kinds = [getattr(import_module(f"{package}.{module}"), name) for package in _packages()]
    return kinds[0] if len(kinds) == 1 else type(name, tuple(kinds), {})


LoggerBase = _base("loggers.logger", "Logger")
CallbackBase = _base("callbacks.callback", "Callback")
ProfilerBase = _base("profilers.profiler", "Profiler")
rank_zero_only = import_module(f"{_packages()[0]}.utilities.rank_zero").rank_zero_only
rank_zero_experiment = import_module(f"{_packages()[0]}.loggers.logger").rank_zero_experiment
