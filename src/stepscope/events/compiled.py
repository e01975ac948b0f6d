"""Compiled models run eagerly while a block is recorded, and are given back compiled."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import torch

from stepscope.events import aside
from stepscope.events.installed import Installed


def run_eagerly(installed: Installed) -> None:
    """Have code that was compiled before run eagerly until `installed` is removed.

    The compiler is not imported for this, which takes a second or more: as long as nobody has, nothing is compiled.
    What is compiled from now on runs compiled, and is not followed (`compilers.py`).
    """
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None and _has_compiled(dynamo):
        installed.add(aside.eager())
        _set_stance(dynamo, installed)


def _has_compiled(dynamo: Any) -> bool:
    """Whether anything was compiled in this process; also where this torch cannot tell."""
    backends = getattr(getattr(dynamo, "eval_frame", None), "cached_backends", None)
    return backends is None or any(backend is not None for backend in backends.values())


def _set_stance(dynamo: Any, installed: Installed) -> None:
    set_stance = getattr(getattr(torch, "compiler", None), "set_stance", None)
    if set_stance is not None:
        stance = set_stance("force_eager")  # takes effect at once; leaving the context brings the old stance back
        installed.add(lambda: stance.__exit__(None, None, None))
        return
    # Before torch 2.6: a compiled module's `forward` is an instance attribute; put the original's in its place.
    for module in _compiled_modules(getattr(dynamo, "eval_frame", None)):
        forward = module.__dict__.get("forward")
        if forward is not None:
            module.__dict__["forward"] = module._orig_mod.forward
            installed.add(partial(module.__dict__.__setitem__, "forward", forward))


def _compiled_modules(eval_frame: Any) -> list[Any]:
    import gc

    kind = getattr(eval_frame, "OptimizedModule", None)
    return [] if kind is None else [found for found in gc.get_objects() if type(found) is kind]
