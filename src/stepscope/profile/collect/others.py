"""The script's own torch.profiler: ours keeps out of its way, and its traces are read instead."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from stepscope import fence
from stepscope.events import Installed

OURS = "_stepscope_window"
"""An attribute of the profiles that are ours."""
_PROFILE, _KINETO = "torch.autograd.profiler:profile", "torch.profiler.profiler:_KinetoProfile"


class TheirProfiler:
    """Notices profilers of the script when they are prepared, started and stopped, and the traces they write."""

    def __init__(self, on_begin: Callable[[], None]) -> None:
        self.seen = False
        self.traces: list[str] = []
        self._on_begin = fence.fenced("making way for the script's profiler")(on_begin)
        self._going: set[int] = set()
        self._installed = Installed(stays_in_parent=True)

    @property
    def is_going(self) -> bool:
        return bool(self._going)

    def install(self, torch: ModuleType) -> None:
        for name in ("_prepare_trace", "_start_trace", "__enter__"):
            self._installed.wrap(f"{_PROFILE}.{name}", self._beginning)
        self._installed.wrap(f"{_PROFILE}.__exit__", self._ending)
        for owner in (_PROFILE, _KINETO):  # the second may write by way of the first
            self._installed.wrap(f"{owner}.export_chrome_trace", self._exporting)

    def remove(self) -> None:
        self._installed.remove()

    def _beginning(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(plain)
        def begin(profile: Any, *args: Any, **kwargs: Any) -> Any:
            if not hasattr(profile, OURS):
                self.seen = True
                self._going.add(id(profile))
                self._on_begin()
            return plain(profile, *args, **kwargs)

        return begin

    def _ending(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(plain)
        def end(profile: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return plain(profile, *args, **kwargs)
            finally:
                self._going.discard(id(profile))

        return end

    def _exporting(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(plain)
        def export(profile: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
            result = plain(profile, path, *args, **kwargs)
            self.traces.append(str(path))
            return result

        return export
