"""The changes a trial can make to a script that knows nothing of it; each is made as its package comes in."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from stepscope.events import Installed, caller, subscribe
from stepscope.events.imports import Imports
from stepscope.events.objects import hook_inputs, lend
from stepscope.launch.trial.data_changes import cached_samples, whole_batches
from stepscope.launch.trial.single_precision import lend_single_precision

if TYPE_CHECKING:
    from torch.optim import Optimizer

Change = Callable[[dict[str, Any], Imports, Installed], None]


def apply_change(change: dict[str, Any] | None, imports: Imports, installed: Installed) -> list[str]:
    """Arrange for a change `{"kind": ..., "settings": ...}`; returns what to report about it."""
    if change is None:
        return []
    make = _CHANGES.get(str(change["kind"]))
    if make is None:
        return [f"there is no trial of kind {change['kind']!r}"]
    make(dict(change.get("settings", {})), imports, installed)
    return []


# -- loaders ----------------------------------------------------------------------------------------------------------


def _loader(settings: dict[str, Any], imports: Imports, installed: Installed) -> None:
    """Other settings, for the loaders made at one place (or all)."""
    where = settings.pop("where", None)

    def came(module: Any) -> None:
        signature = inspect.signature(module.DataLoader.__init__)

        def layer(make: Any) -> Any:
            @wraps(make)
            def __init__(loader: Any, *args: Any, **kwargs: Any) -> None:
                given: Any = (loader, *args), kwargs
                if where is None or _made_at(caller(), where):
                    given = _bound(signature, settings, given)
                make(*given[0], **given[1])

            return __init__

        installed.wrap("torch.utils.data.dataloader:DataLoader.__init__", layer, owner=module.DataLoader)

    imports.when("torch.utils.data.dataloader", came)


def _bound(signature: inspect.Signature, settings: dict[str, Any], given: Any) -> Any:
    try:
        bound = signature.bind(*given[0], **given[1])
    except TypeError:  # a call that is wrong: the loader itself says how
        return given
    bound.arguments.update(settings)
    return bound.args, bound.kwargs


def _made_at(frame: FrameType | None, where: Any) -> bool:
    """Whether a place is among the callers."""
    for _ in range(20):
        if frame is None:
            return False
        if frame.f_code.co_filename == where[0] and abs(frame.f_lineno - int(where[1])) <= 3:
            return True
        frame = frame.f_back
    return False


# -- switches ---------------------------------------------------------------------------------------------------------


def _flag(settings: dict[str, Any], imports: Imports, installed: Installed) -> None:
    imports.when("torch", lambda torch: _switch(torch, settings, installed))


_HELD = {
    "float32_matmul_precision": "torch:set_float32_matmul_precision",
    "num_threads": "torch:set_num_threads",
    "deterministic": "torch:use_deterministic_algorithms",
}
"""Switches that the script itself may set: the trial holds them."""


def _switch(torch: ModuleType, settings: dict[str, Any], installed: Installed) -> None:
    for name, value in settings.items():
        if name == "float32_matmul_precision":
            torch.set_float32_matmul_precision(value)
        elif name == "cudnn_benchmark":
            torch.backends.cudnn.set_flags(_benchmark=value)
        elif name == "num_threads":
            torch.set_num_threads(int(value))
        elif name == "anomaly":
            installed.wrap("torch.autograd.anomaly_mode:set_detect_anomaly.__init__", _no_anomaly)
        if name in _HELD:
            installed.wrap(_HELD[name], _ignored)


def _ignored(plain: Any) -> Any:
    @wraps(plain)
    def ignored(*args: Any, **kwargs: Any) -> None:
        """The trial holds this switch."""

    return ignored


def _no_anomaly(plain: Any) -> Any:
    @wraps(plain)
    def __init__(self: Any, mode: bool = True, check_nan: bool = True) -> None:
        plain(self, False, check_nan)

    return __init__


def _non_blocking(settings: dict[str, Any], imports: Imports, installed: Installed) -> None:
    def layer(plain: Any) -> Any:
        @wraps(plain)
        def moved(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            return plain(tensor, *args, **{**kwargs, "non_blocking": True})

        return moved

    def came(torch: ModuleType) -> None:
        for point in ("torch:Tensor.to", "torch:Tensor.cuda"):
            installed.wrap(point, layer)

    imports.when("torch", came)


# -- optimizers -------------------------------------------------------------------------------------------------------


def _optimizer(settings: dict[str, Any], imports: Imports, installed: Installed) -> None:
    def layer(make: Any) -> Any:
        known = inspect.signature(make).parameters

        @wraps(make)
        def __init__(optimizer: Optimizer, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("foreach", None)
            make(optimizer, *args, **{**kwargs, **{key: one for key, one in settings.items() if key in known}})

        return __init__

    def came(torch: ModuleType) -> None:
        for name in ("Adam", "AdamW", "SGD", "Adagrad", "NAdam", "RAdam", "RMSprop"):
            installed.wrap("torch.optim:Optimizer.__init__", layer, owner=getattr(torch.optim, name))

    imports.when("torch", came)


def _set_to_none(settings: dict[str, Any], imports: Imports, installed: Installed) -> None:
    def layer(plain: Any) -> Any:
        @wraps(plain)
        def zero_grad(owner: Any, set_to_none: bool = True) -> None:
            plain(owner, True)

        return zero_grad

    def came(torch: ModuleType) -> None:
        for point in ("torch.optim:Optimizer.zero_grad", "torch.nn:Module.zero_grad"):
            installed.wrap(point, layer)

    imports.when("torch", came)


# -- models -----------------------------------------------------------------------------------------------------------


def _root(change: Callable[[Any, Any, dict[str, Any]], None]) -> Change:
    """A change to each model, made as it is first called for training."""

    def make(settings: dict[str, Any], imports: Imports, installed: Installed) -> None:
        def came(torch: ModuleType) -> None:
            changed: list[Any] = []

            def begins(call: Any) -> None:
                module = call.module
                if not torch.is_grad_enabled() or any(one is module for one in changed):
                    return
                if any(True for _ in module.parameters()):
                    changed.append(module)
                    _made_or_over(lambda: change(torch, module, settings))

            def enough(*step: Any) -> None:  # after the first step models are called as without us
                if changed:
                    models.remove()

            models = subscribe("changing a model for a trial", model_begins=begins)
            steps = subscribe("changing a model for a trial", step_ends=enough)
            installed.add(models.remove)
            installed.add(steps.remove)

        imports.when("torch", came)

    return make


def _made_or_over(change: Callable[[], None]) -> None:
    """A trial whose change cannot be made ends: it would measure the script as it is."""
    try:
        change()
    except Exception as fault:
        raise SystemExit(f"the change could not be made: {type(fault).__name__}: {fault}") from fault


def _compile(torch: ModuleType, module: Any, settings: dict[str, Any]) -> None:
    module.compile(**settings)


def _amp(torch: ModuleType, module: Any, settings: dict[str, Any]) -> None:
    lend_autocast(torch, module, settings)


def lend_autocast(torch: ModuleType, module: Any, settings: dict[str, Any]) -> Callable[[], None]:
    """The forward of a model under autocast, until the returned function is called."""
    plain, dtype = module.forward, getattr(torch, str(settings.get("dtype", "bfloat16")))
    kind = next((one.device.type for one in module.parameters()), "cpu")

    @wraps(plain)
    def forward(*args: Any, **kwargs: Any) -> Any:
        with torch.autocast(kind, dtype=dtype):
            output = plain(*args, **kwargs)
        return output.float() if isinstance(output, torch.Tensor) else output

    return lend(module, "forward", forward)


def _float32(torch: ModuleType, module: Any, settings: dict[str, Any]) -> None:
    lend_single_precision(torch, module)


def _channels_last(torch: ModuleType, module: Any, settings: dict[str, Any]) -> None:
    module.to(memory_format=torch.channels_last)

    def turned(args: tuple[Any, ...]) -> Any:
        return tuple(
            one.contiguous(memory_format=torch.channels_last)
            if isinstance(one, torch.Tensor) and one.dim() == 4
            else one
            for one in args
        )

    hook_inputs(module, turned)


_CHANGES: dict[str, Change] = {
    "loader": _loader,
    "flag": _flag,
    "non_blocking": _non_blocking,
    "optimizer": _optimizer,
    "set_to_none": _set_to_none,
    "compile": _root(_compile),
    "amp": _root(_amp),
    "float32": _root(_float32),
    "channels_last": _root(_channels_last),
    "cache": cached_samples,
    "batch-index": whole_batches,
}
