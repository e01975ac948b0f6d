"""Registries by folder: a file added to a package's folder is loaded with the others."""

from __future__ import annotations

import threading
from importlib import import_module
from pkgutil import iter_modules, walk_packages
from types import ModuleType

_loading = threading.RLock()
_loaded: dict[tuple[str, bool], list[ModuleType]] = {}


def modules_in(package: str, *, deeply: bool = False) -> list[ModuleType]:
    """The modules in a package's folder by name, and with `deeply` those in its subfolders.

    They are imported once. A second thread waits until all are loaded, so that it never sees an incomplete registry.
    """
    with _loading:
        known = _loaded.get((package, deeply))
        if known is None:
            find = walk_packages if deeply else iter_modules
            names = sorted(found.name for found in find(import_module(package).__path__, f"{package}."))
            known = _loaded[package, deeply] = [import_module(name) for name in names]
        return list(known)
