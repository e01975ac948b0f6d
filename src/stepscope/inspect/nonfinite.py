"""Where the values of a recorded step stopped being finite, for those who show it.

The search itself stands in `record`, because the watcher of a running training needs it too.
"""

from __future__ import annotations

from stepscope.record.nonfinite import Birth, births
from stepscope.records.finite import is_bad

__all__ = ["Birth", "births", "is_bad"]
