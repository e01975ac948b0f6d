"""Stand at a method of somebody's class: what it does, gives and raises stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from stepscope import fence
from stepscope.events import Installed

__all__ = ["after", "around"]

Leave = Callable[[], object]


def around(installed: Installed, owner: Any, name: str, enter: Callable[..., Leave | None]) -> None:
    """Before each call `enter` gets its arguments; what it gives is called when the call is over, however it ends.

    A class that has no such method of its own is left alone: a version of the package we do not know.
    """
    method = owner.__dict__.get(name)
    if method is None:
        return
    where = f"following {getattr(owner, '__name__', owner)}.{name}"

    @wraps(method)
    def standing(*args: Any, **kwargs: Any) -> Any:
        leave = _safely(where, enter, args, kwargs)
        try:
            return method(*args, **kwargs)
        finally:
            if leave is not None:
                _safely(where, leave, (), {})

    installed.patch(owner, name, standing)


def after(installed: Installed, owner: Any, name: str, heard: Callable[..., object]) -> None:
    """After each call that raised nothing: `heard(result, *args, **kwargs)`."""
    method = owner.__dict__.get(name)
    if method is None:
        return
    where = f"following {getattr(owner, '__name__', owner)}.{name}"

    @wraps(method)
    def standing(*args: Any, **kwargs: Any) -> Any:
        result = method(*args, **kwargs)
        _safely(where, heard, (result, *args), kwargs)
        return result

    installed.patch(owner, name, standing)


def _safely(where: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return function(*args, **kwargs)
    except Exception as fault:
        fence.report(where, fault)
        return None
