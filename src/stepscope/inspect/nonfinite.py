"""Where the values of a recorded step stopped being finite, for display.

The search itself is in `record`, because watching a live training needs it too.
"""

from __future__ import annotations

from stepscope.record.nonfinite import Birth, births
from stepscope.records.finite import is_bad

__all__ = ["Birth", "births", "is_bad"]
