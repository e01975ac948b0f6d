"""Whether a CUDA graph is being captured: what we launch then becomes part of it, and what we ask breaks it."""

from __future__ import annotations

import torch

__all__ = ["is_capturing"]


def is_capturing() -> bool:
    """True between `torch.cuda.graph(...)` and its end, on the thread that captures."""
    return bool(torch.cuda.is_initialized()) and torch.cuda.is_current_stream_capturing()  # type: ignore[no-untyped-call]
