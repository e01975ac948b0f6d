"""Which steps make up the typical step: the same answer for the chart of phases and for the advice."""

from __future__ import annotations

from typing import Any

__all__ = ["typical_rows"]


def typical_rows(walls_ns: Any, first_is_odd: bool) -> Any:
    """Row numbers without warm-up (the first third) and without the slowest twentieth, such as an evaluation.

    >>> typical_rows([900] * 5 + [100] * 10 + [4000], True).tolist()
    [5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
    """
    import numpy as np  # not before the script has had its own beginning

    walls = np.asarray(walls_ns, np.int64)
    first = len(walls) // 3 if len(walls) > 6 else int(first_is_odd)
    rest = walls[first:]
    fastest = np.argsort(rest, kind="stable")[: max(1, len(rest) - (len(rest) + 9) // 20)]
    return np.sort(fastest) + first
