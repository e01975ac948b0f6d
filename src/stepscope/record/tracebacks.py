"""Tracebacks as they would be without us. Imports nothing: DataLoader workers need it too."""

from __future__ import annotations

import os
from types import TracebackType

__all__ = ["without_our_frames"]

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_HANDOVER = os.path.join("torch", "overrides.py")


def without_our_frames(trace: TracebackType | None) -> TracebackType | None:
    """The same traceback, our own frames left out.

    A Python function of torch that hands its call over to us does so in `torch/overrides.py`, and we call it again: the
    first call and the handover would not be there either.
    """
    kept: list[TracebackType] = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_OURS):
            kept.append(trace)
        elif kept and kept[-1].tb_frame.f_code.co_filename.endswith(_HANDOVER):
            del kept[-2:]
        trace = trace.tb_next
    chain: TracebackType | None = None
    for each in reversed(kept):
        chain = TracebackType(chain, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return chain
