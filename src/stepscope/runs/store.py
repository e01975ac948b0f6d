"""Which folder holds the runs when nobody names one: the same for those who write and those who read."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["USUAL", "usual_store"]

USUAL = "stepscope-runs"


def usual_store() -> Path:
    """The folder in STEPSCOPE_DIR, else `stepscope-runs` where we are; an empty variable counts as none."""
    return Path(os.environ.get("STEPSCOPE_DIR") or USUAL)
