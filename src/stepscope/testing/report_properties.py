"""Names of what a test hands to the summary at the end, beside its result."""

from __future__ import annotations

__all__ = ["MEASURED", "NOTED"]

MEASURED = "stepscope-measured"
NOTED = "stepscope-noted"
