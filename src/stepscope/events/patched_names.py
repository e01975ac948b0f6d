"""The function a call meant, where a user has patched the name that torch looks it up by.

Python functions of torch hand themselves over as `handle_torch_function(relu, ...)`, by their global name. If a script
has put a wrapper there, a function mode is given the wrapper, although the body that is running is the original's.
Calling the wrapper from the mode would apply it a second time. So the function to continue with is the one whose code
is running.
"""

from __future__ import annotations

import gc
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch.overrides
from torch._jit_internal import boolean_dispatched
from torch._ops import OperatorBase

HANDOVER: CodeType = torch.overrides.handle_torch_function.__code__
"""Where a Python function of torch hands its call over to modes."""
_known: dict[CodeType, Any] = {}


def meant(function: Any, handover: FrameType) -> Any:
    """The function whose body has handed over; `handover` is the frame of `handle_torch_function`."""
    body = handover.f_back
    if body is None or getattr(function, "__code__", None) is body.f_code:
        return function
    if isinstance(function, OperatorBase):  # it hands itself over from its own `__call__`
        return function
    if function in boolean_dispatched:  # `_max_pool2d` hands over as `max_pool2d`, which would only call it again
        return function
    known = _known.get(body.f_code)
    if known is None:
        known = _known[body.f_code] = _function_with(body) or function
    return known


def _function_with(frame: FrameType) -> Any:
    """The function object that has this code: the one torch made, with its defaults and what it encloses.

    The collector does not know it where objects are set aside (`set_aside.py`, `gc.freeze`). Then another function
    of the same code does: torch hands over all arguments, so the defaults are not missed.
    """
    code = frame.f_code
    for found in gc.get_referrers(code):
        if type(found) is FunctionType and found.__code__ is code and found.__globals__ is frame.f_globals:
            return found
    return None if code.co_freevars else FunctionType(code, frame.f_globals)
