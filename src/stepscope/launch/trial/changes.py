"""The changes a trial can make to a script that knows nothing of it; each is made as its package comes in."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.trial.data_changes import cached_samples, whole_batches

__all__ = ["apply_change"]

Change = Callable[[dict[str, Any], Imports, Installed], None]


def apply_change(change: dict[str, Any] | None, imports: Imports, installed: Installed) -> list[str]:
    """Arrange for a change `{"kind": ..., "settings": ...}`; what there is to say of it."""
    if change is None:
        return []
    make = _CHANGES.get(str(change["kind"]))
    if make is None:
        return [f"there is no trial of the kind {change['kind']!r}"]
    make(dict(change.get("settings", {})), imports, installed)
    return []


# -- loaders ----------------------------------------------------------------------------------------------------------


def _loader(settings: dict[str, Any], imports: Imports, installed: Installed) -> None:
    """Other settings, for the loaders made at one place (or all)."""
    where = settings.pop("where", None)

    def came(module: Any) -> None:
        make = module.DataLoader.__init__
        signature = inspect.signature(make)

        @wraps(make)
        def __init__(loader: Any, *args: Any, **kwargs: Any) -> None:
            given: Any = (loader, *args), kwargs
            if where is None or _made_at(sys._getframe(1), where):
                given = _bound(signature, settings, given)
            make(*given[0], **given[1])

        installed.patch(module.DataLoader, "__init__", __init__)

    imports.when("torch.utils.data.dataloader", came)


def _bound(signature: inspect.Signature, settings: dict[str, Any], given: Any) -> Any:
    try:
        bound = signature.bind(*given[0], **given[1])
    except TypeError:  # a call that is wrong: the loader itself says how
        return given
    bound.arguments.update(settings)
    return bound.args, bound.kwargs


def _made_at(frame: Any, where: Any) -> bool:
    """Whether the call stands at a place, somewhere on the way out."""
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


def _switch(torch: Any, settings: dict[str, Any], installed: Installed) -> None:
    def ignored(*args: Any, **kwargs: Any) -> None:
        """The trial holds this switch."""

    for name, value in settings.items():
        if name == "float32_matmul_precision":
            torch.set_float32_matmul_precision(value)
            installed.patch(torch, "set_float32_matmul_precision", ignored)
        elif name == "cudnn_benchmark":
            torch.backends.cudnn.benchmark = value
        elif name == "num_threads":
            torch.set_num_threads(int(value))
            installed.patch(torch, "set_num_threads", ignored)
        elif name == "default_dtype":
            installed.patch(torch, "set_default_dtype", ignored)
        elif name == "deterministic":
            installed.patch(torch, "use_deterministic_algorithms", ignored)
        elif name == "anomaly":
            _no_anomaly(torch.autograd.set_detect_anomaly, installed)


def _no_anomaly(kind: Any, installed: Installed) -> None:
    plain = kind.__init__
    installed.patch(kind, "__init__", lambda self, mode=True, check_nan=True: plain(self, False, check_nan))


def _non_blocking(settings: dict[str, Any], imports: Imports, installed: Installed) -> None:
    def came(torch: Any) -> None:
        for name in ("to", "cuda"):
            plain = getattr(torch.Tensor, name)

            def moved(tensor: Any, *args: Any, plain: Any = plain, **kwargs: Any) -> Any:
                return plain(tensor, *args, **{**kwargs, "non_blocking": True})

            setattr(torch.Tensor, name, wraps(plain)(moved))
            installed.add(lambda name=name: delattr(torch.Tensor, name))  # type: ignore[misc]

    imports.when("torch", came)


# -- optimizers -------------------------------------------------------------------------------------------------------


def _optimizer(settings: dict[str, Any], imports: Imports, installed: Installed) -> None:
    def came(torch: Any) -> None:
        for name in ("Adam", "AdamW", "SGD", "Adagrad", "NAdam", "RAdam", "RMSprop"):
            kind = getattr(torch.optim, name)
            make = kind.__init__
            known = inspect.signature(make).parameters

            def __init__(optimizer: Any, *args: Any, make: Any = make, known: Any = known, **kwargs: Any) -> None:
                kwargs.pop("foreach", None)
                make(optimizer, *args, **{**kwargs, **{key: one for key, one in settings.items() if key in known}})

            installed.patch(kind, "__init__", wraps(make)(__init__))

    imports.when("torch", came)


def _set_to_none(settings: dict[str, Any], imports: Imports, installed: Installed) -> None:
    def came(torch: Any) -> None:
        for kind in (torch.optim.Optimizer, torch.nn.Module):
            plain = kind.zero_grad
            installed.patch(kind, "zero_grad", lambda owner, set_to_none=True, plain=plain: plain(owner, True))

    imports.when("torch", came)


# -- models -----------------------------------------------------------------------------------------------------------


def _root(change: Callable[[Any, Any, dict[str, Any]], None]) -> Change:
    """A change to each model, made at its first call; it is in force from the second on."""

    def make(settings: dict[str, Any], imports: Imports, installed: Installed) -> None:
        def came(torch: Any) -> None:
            changed: list[Any] = []
            inside = [0]

            def begins(module: Any, args: Any) -> None:
                inside[0] += 1
                new = inside[0] == 1 and torch.is_grad_enabled() and not any(one is module for one in changed)
                if new and any(True for _ in module.parameters()):
                    changed.append(module)
                    change(torch, module, settings)

            def ends(module: Any, args: Any, output: Any) -> None:
                inside[0] = max(0, inside[0] - 1)

            from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

            hooks = [register_module_forward_pre_hook(begins), register_module_forward_hook(ends, always_call=True)]

            def enough(optimizer: Any, args: Any, kwargs: Any) -> None:  # two steps, then the hooks cost nothing
                if changed and hooks:
                    for hook in hooks:
                        hook.remove()
                    hooks.clear()

            import torch.optim.optimizer as optimizers

            installed.add(optimizers.register_optimizer_step_post_hook(enough).remove)

        imports.when("torch", came)

    return make


def _compile(torch: Any, module: Any, settings: dict[str, Any]) -> None:
    module.compile(**settings)


def _amp(torch: Any, module: Any, settings: dict[str, Any]) -> None:
    plain, dtype = module.forward, getattr(torch, str(settings.get("dtype", "bfloat16")))
    kind = next((one.device.type for one in module.parameters()), "cpu")

    @wraps(plain)
    def forward(*args: Any, **kwargs: Any) -> Any:
        with torch.autocast(kind, dtype=dtype):
            output = plain(*args, **kwargs)
        return output.float() if isinstance(output, torch.Tensor) else output

    module.forward = forward


def _channels_last(torch: Any, module: Any, settings: dict[str, Any]) -> None:
    module.to(memory_format=torch.channels_last)

    def turned(module: Any, args: Any) -> Any:
        return tuple(
            one.contiguous(memory_format=torch.channels_last)
            if isinstance(one, torch.Tensor) and one.dim() == 4
            else one
            for one in args
        )

    module.register_forward_pre_hook(turned)


_CHANGES: dict[str, Change] = {
    "loader": _loader,
    "flag": _flag,
    "non_blocking": _non_blocking,
    "optimizer": _optimizer,
    "set_to_none": _set_to_none,
    "compile": _root(_compile),
    "amp": _root(_amp),
    "channels_last": _root(_channels_last),
    "cache": cached_samples,
    "batch-index": whole_batches,
}
