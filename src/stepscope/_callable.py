"""Rooms of the house that can also be called: `stepscope.runs` is a package, and `stepscope.runs("dir")` lists runs.

Python sets `stepscope.runs` to the package as soon as anything imports it, so a function of the same name in
`stepscope/__init__.py` would vanish. Making the package itself callable gives both one meaning.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["make_callable"]


def make_callable(package: str, target: str) -> None:
    """Let calls of the package `package` go to `target` ("module:function"), imported on the first call."""

    class CallableModule(ModuleType):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            module, function = target.split(":")
            return getattr(import_module(module), function)(*args, **kwargs)

    sys.modules[package].__class__ = CallableModule
