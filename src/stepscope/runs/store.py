"""The default folder for runs, the same for writers and readers."""

from __future__ import annotations

import os
from pathlib import Path

USUAL = "stepscope-runs"


def usual_store() -> Path:
    """The folder in STEPSCOPE_DIR, else `stepscope-runs` in the current folder; an empty variable is ignored."""
    return Path(os.environ.get("STEPSCOPE_DIR") or USUAL)
