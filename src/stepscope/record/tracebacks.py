"""Tracebacks as they would be without us. Imports nothing: DataLoader workers need it too."""

from __future__ import annotations

import os
from types import TracebackType

__all__ = ["without_our_frames"]

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def without_our_frames(trace: TracebackType | None) -> TracebackType | None:
    """The same traceback, our own frames left out."""
    kept: list[TracebackType] = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_OURS):
            kept.append(trace)
        trace = trace.tb_next
    chain: TracebackType | None = None
    for each in reversed(kept):
        chain = TracebackType(chain, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return chain
