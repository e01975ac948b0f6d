"""The line of the user's own that stands behind each operator, also for those of backward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.groups import Groups
from stepscope.profile.trace.own_lines import own_lines
from stepscope.profile.trace.trace import Trace

__all__ = ["top_lines"]

Values = npt.NDArray[Any]


def top_lines(
    trace: Trace, facts: Mapping[str, Any], ops: Values, groups: Groups, weights: Values
) -> list[str | None] | None:
    """Of each group of operators the line with most weight; None without stacks in the trace.

    `ops` may hold -1 for "no operator". Operators of backward count to the line of forward that made them.
    """
    found = own_lines(trace, facts)
    if found is None:
        return None
    carrier = np.append(found.at, -1)  # the last stands for no operator
    at = carrier[ops]
    missing = (at < 0) & (ops >= 0)
    if missing.any():
        at[missing] = carrier[trace.forward_op[ops[missing]]]
    line = np.where(at >= 0, found.key[at], -1)
    texts = [f"{key.file}:{key.line}" for key in found.keys]
    return [texts[i] if i >= 0 else None for i in groups.leading(line, weights).tolist()]
