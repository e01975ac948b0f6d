"""A model that computes in float64, in float32 for a while: its weights, what it is given and the optimizer's state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from types import ModuleType
from typing import Any

from stepscope.events import quietly
from stepscope.events.objects import lend


def lend_single_precision(torch: ModuleType, module: Any, optimizers: Sequence[Any] = ()) -> Callable[[], None]:
    """Until the returned function is called. Outputs are float64 as before, because the loss may meet float64 targets.

    A model that cannot be called this way is called as it was.
    """
    plain = module.forward
    failed: list[Exception] = []

    @wraps(plain)
    def forward(*args: Any, **kwargs: Any) -> Any:
        if not failed:
            try:
                single = _cast(torch, (args, kwargs), torch.float64, torch.float32)
                return _cast(torch, plain(*single[0], **single[1]), torch.float32, torch.float64)
            except RuntimeError as fault:  # float64 that the model itself makes
                failed.append(fault)
                _convert(torch, module, optimizers, torch.float32, torch.float64)
        return plain(*args, **kwargs)

    _convert(torch, module, optimizers, torch.float64, torch.float32)
    give_back = lend(module, "forward", forward)

    def undo() -> None:
        give_back()
        _convert(torch, module, optimizers, torch.float32, torch.float64)
        if failed:
            raise failed[0]

    return undo


def _convert(torch: ModuleType, module: Any, optimizers: Sequence[Any], old: Any, new: Any) -> None:
    with quietly(), torch.no_grad():
        for one in [*module.parameters(), *module.buffers()]:
            if one.dtype == old:
                one.grad = None
                one.data = one.data.to(new)
        for optimizer in optimizers:
            for state in optimizer.state.values():
                state.update({key: value.to(new) for key, value in state.items() if _is(torch, value, old)})


def _cast(torch: ModuleType, value: Any, old: Any, new: Any) -> Any:
    if _is(torch, value, old):
        return value.to(new)
    if type(value) in (tuple, list):
        return type(value)(_cast(torch, one, old, new) for one in value)
    return {key: _cast(torch, one, old, new) for key, one in value.items()} if type(value) is dict else value


def _is(torch: ModuleType, value: Any, dtype: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype == dtype
