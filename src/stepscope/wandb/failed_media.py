"""Invalid media: creating it raises nothing, logging it names the key and the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepscope import fence
from stepscope.errors import StepscopeError
from stepscope.track.media.loggable import Encoded


class Broken:
    """Carries the error in the data until it is logged."""

    def __init__(self, fault: StepscopeError) -> None:
        self._fault = fault.with_traceback(None)  # which would keep the caller's variables alive

    def encode(self, key: str, step: int, time: float) -> Encoded:
        raise self._fault


def made(what: str, make: Callable[[], Any]) -> Any:
    """The result of `make`; invalid data is reported when logged, an internal error is reported and gives None."""

    def careful() -> Any:
        try:
            return make()
        except StepscopeError as fault:
            return Broken(fault)

    return fence.call(f"making a wandb.{what}", careful)
