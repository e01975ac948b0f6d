"""Models under `torch.compile` run eagerly while they are recorded, and are given back compiled."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import torch

from stepscope.record.restore import Installed

__all__ = ["run_eagerly"]


def run_eagerly(installed: Installed) -> bool:
    """Have compiled code run eagerly until the recording ends. True when something in this process was compiled.

    The compiler is never imported for this: without it nothing can have been compiled.
    """
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is None:
        return False
    set_stance = getattr(getattr(torch, "compiler", None), "set_stance", None)
    if set_stance is not None:
        stance = set_stance("force_eager")  # takes effect at once; leaving the context brings the old stance back
        installed.add(lambda: stance.__exit__(None, None, None))
        return True
    return _without_stance(dynamo, installed)


def _without_stance(dynamo: Any, installed: Installed) -> bool:
    # Before torch 2.6: a compiled module's `forward` is an instance attribute; put the original's in its place.
    eval_frame = getattr(dynamo, "eval_frame", None)
    modules = _compiled_modules(eval_frame)
    for module in modules:
        forward = module.__dict__.get("forward")
        if forward is not None:
            module.__dict__["forward"] = module._orig_mod.forward
            installed.add(partial(module.__dict__.__setitem__, "forward", forward))
    return bool(modules)


def _compiled_modules(eval_frame: Any) -> list[Any]:
    import gc

    kind = getattr(eval_frame, "OptimizedModule", None)
    return [] if kind is None else [found for found in gc.get_objects() if type(found) is kind]
