"""Names of the properties a test passes to the final summary."""

from __future__ import annotations

MEASURED = "stepscope-measured"
NOTED = "stepscope-noted"
