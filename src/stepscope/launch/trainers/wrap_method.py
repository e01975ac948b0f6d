"""Stand at a method of a trainer: what it does, returns and raises stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from stepscope import fence
from stepscope.events import Installed

Leave = Callable[[], object]


def around(installed: Installed, point: str, enter: Callable[..., Leave | None], owner: Any = None) -> bool:
    """Before each call `enter` gets its arguments; what it returns is called when the call is over, however it ends.

    False where this version of the package has no such method: it is left alone.
    """
    where = _following(point)

    def layer(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def standing(*args: Any, **kwargs: Any) -> Any:
            leave = _safely(where, enter, args, kwargs)
            try:
                return method(*args, **kwargs)
            finally:
                if leave is not None:
                    _safely(where, leave, (), {})

        return standing

    return installed.wrap(point, layer, owner)


def after(installed: Installed, point: str, heard: Callable[..., object], owner: Any = None) -> bool:
    """After each call that raised nothing: `heard(result, *args, **kwargs)`."""
    where = _following(point)

    def layer(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def standing(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            _safely(where, heard, (result, *args), kwargs)
            return result

        return standing

    return installed.wrap(point, layer, owner)


def _following(point: str) -> str:
    return f"following {point.partition(':')[2]}"


def _safely(where: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return function(*args, **kwargs)
    except Exception as fault:
        fence.report(where, fault)
        return None
