"""Be told when a package has been imported, without importing it ourselves.

Scripts set `OMP_NUM_THREADS` or `CUDA_VISIBLE_DEVICES` before they import torch; so torch is imported by the script,
when the script wants it, and what we hook into is hooked right after.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from stepscope import fence
from stepscope.events import set_aside

Told = Callable[[ModuleType], object]


_installed: list[Imports] = []


def soon(name: str, told: Told) -> None:
    """Call `told(module)` now if it is imported, else when it is, as long as somebody waits for imports at all."""
    module = loaded(name)
    if module is not None:
        fence.call(f"hooking into {name}", told, module)
    elif _installed:
        _installed[-1].when(name, told)


def loaded(name: str) -> ModuleType | None:
    """The module, if it has been imported to its end."""
    module = sys.modules.get(name)
    return None if getattr(getattr(module, "__spec__", None), "_initializing", False) else module


def waiting() -> Imports | None:
    """Who tells of imports now."""
    return _installed[-1] if _installed else None


class Imports:
    """The packages we wait for. Installed first on `sys.meta_path`; finds nothing itself."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Told]] = {}
        self._searching: set[str] = set()

    def when(self, name: str, told: Told) -> None:
        """Call `told(module)` once `name` is imported; at once if it is already."""
        safe = fence.fenced(f"hooking into {name}")(told)
        module = loaded(name)
        if module is not None:
            safe(module)
        else:
            self._waiting.setdefault(name, []).append(safe)

    def install(self) -> None:
        sys.meta_path.insert(0, self)
        _installed.append(self)

    def remove(self) -> None:
        self._waiting.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        if self in _installed:
            _installed.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that the others find, its loader made to tell us; None for all that nobody waits for."""
        if name not in self._waiting or name in self._searching:
            return None
        self._searching.add(name)
        try:
            spec = find_spec(name)
        except (ImportError, AttributeError, ValueError):  # the script's own import raises it again, in its own way
            return None
        finally:
            self._searching.discard(name)
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            self._tell_after(spec.loader, name)
        return spec

    def _tell_after(self, loader: Any, name: str) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            vars(loader).pop("exec_module", None)  # it is again as it was; another of us may have seen to that
            large = set_aside.Import() if name in set_aside.LARGE else None
            execute(module)
            for told in self._waiting.pop(name, ()):
                told(module)
            if large is not None:
                fence.call(f"setting aside {name}", large.set_aside)

        try:
            loader.exec_module = exec_module
        except AttributeError:  # a loader that takes no attributes: its package is not hooked into
            return
