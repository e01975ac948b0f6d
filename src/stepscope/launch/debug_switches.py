"""Ways to run a script that make faults easier to find: deterministic, eager, without workers."""

from __future__ import annotations

import inspect
import os
import random
from functools import wraps
from types import ModuleType
from typing import Any

from stepscope import fence
from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.options import Switches

SEED = 0


def apply_switches(switches: Switches, imports: Imports, installed: Installed) -> list[str]:
    """Arrange for what was asked, as the packages come in; what to tell the user about it."""
    notices = []
    if switches.deterministic:
        notices.append(_deterministic(imports))
    if switches.eager:
        imports.when("torch", lambda torch: _eager(torch, installed))
    if switches.no_workers:
        imports.when("torch.utils.data.dataloader", lambda module: _no_workers(module, installed))
    return notices


def _deterministic(imports: Imports) -> str:
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when cuBLAS starts, so before torch is there
    random.seed(SEED)
    imports.when("numpy", lambda numpy: numpy.random.seed(SEED))
    imports.when("torch", _deterministic_torch)
    return (
        f"--deterministic: random, numpy and torch start from seed {SEED}; seeds the script sets itself win, "
        "and ops without a deterministic form only warn"
    )


def _deterministic_torch(torch: ModuleType) -> None:
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.set_flags(_benchmark=False)


def _eager(torch: ModuleType, installed: Installed) -> None:
    """`torch.compile` returns its argument unchanged."""

    def left_alone(plain: Any) -> Any:
        @wraps(plain)
        def compile(model: Any = None, **options: Any) -> Any:
            return model if model is not None else lambda function: function

        return compile

    def module_left_alone(plain: Any) -> Any:
        @wraps(plain)
        def compile(self: Any, *args: Any, **options: Any) -> None:
            """Leave the module as it is (--eager)."""

        return compile

    installed.wrap("torch:compile", left_alone, outermost=True)
    installed.wrap("torch.nn:Module.compile", module_left_alone)


def _no_workers(module: Any, installed: Installed) -> None:
    """Every DataLoader loads in the main process, where it can be stepped through."""
    signature = inspect.signature(module.DataLoader.__init__)
    alone = {
        "num_workers": 0,
        "prefetch_factor": None,
        "persistent_workers": False,
        "multiprocessing_context": None,
        "timeout": 0,
    }

    def layer(make: Any) -> Any:
        @wraps(make)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            asked = fence.call("--no-workers", without_workers, self, args, kwargs)
            if asked is not None:
                args, kwargs = asked
            make(self, *args, **kwargs)

        return __init__

    def without_workers(loader: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            bound = signature.bind(loader, *args, **kwargs)
        except TypeError:  # a call that is wrong: the loader itself says how
            return None
        bound.arguments.update({name: value for name, value in alone.items() if name in bound.arguments})
        return bound.args[1:], bound.kwargs

    installed.wrap("torch.utils.data.dataloader:DataLoader.__init__", layer, owner=module.DataLoader)
