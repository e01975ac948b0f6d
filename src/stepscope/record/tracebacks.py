"""Tracebacks as they would be without us. Imports nothing: DataLoader workers need it too."""

from __future__ import annotations

import os
from types import TracebackType

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_HANDOVER = os.path.join("torch", "overrides.py")


def without_our_frames(trace: TracebackType | None) -> TracebackType | None:
    """The same traceback, our own frames left out.

    A Python function of torch that hands its call over to us does so in `torch/overrides.py`, and we call it again: the
    first call and the handover would not be there either. Where `operations.c` is built we have no frame in between;
    modes and tensors of the script's own have one.
    """
    kept: list[TracebackType] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        is_ours = code.co_filename.startswith(_OURS)
        handed = bool(kept) and kept[-1].tb_frame.f_code.co_filename.endswith(_HANDOVER)
        if handed and (is_ours or code.co_name != "__torch_function__"):
            del kept[-2:]
        if not is_ours:
            kept.append(trace)
        trace = trace.tb_next
    chain: TracebackType | None = None
    for each in reversed(kept):
        chain = TracebackType(chain, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return chain
