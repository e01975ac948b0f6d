"""Modules written in C: each has a way without it, in Python, that does the same work more slowly.

`scripts/build-compiled` builds them where there is a compiler; wheels for a platform have them. With `STEPSCOPE_PURE=1`
none is used.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

__all__ = ["load"]


def load(name: str, version: int) -> Any | None:
    """The module of this name; None where it is not there, was built from an older source, or is not wanted."""
    if os.environ.get("STEPSCOPE_PURE", "0") not in ("", "0") or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None  # without the GIL, importing one would switch it on
    try:
        module = importlib.import_module(name)
    except ImportError:
        return None
    return module if getattr(module, "VERSION", None) == version else None
