"""What an optimizer was to be made of."""

from __future__ import annotations

import ast

from stepscope.diagnose.crash.crash import Crash
from stepscope.evidence.modules import Module


def parameters_call(crash: Crash) -> ast.Call | None:
    """The `model.parameters()` on the line that failed, or in what its argument was made of."""
    frame = crash.last
    node = None if frame is None else frame.running
    for part in ast.walk(node) if node is not None else ():
        called = part.func if isinstance(part, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in ("parameters", "named_parameters"):
            return part  # type: ignore[return-value]
    return None


def model_given(crash: Crash) -> Module | None:
    """The model whose parameters an optimizer was given."""
    call = parameters_call(crash)
    if call is None or crash.last is None or not isinstance(call.func, ast.Attribute):
        return None
    model = crash.last.value_of(call.func.value)
    return model if isinstance(model, Module) else None
