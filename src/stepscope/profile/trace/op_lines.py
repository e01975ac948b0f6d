"""The user's own line behind each operator, also for those of backward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.groups import Groups
from stepscope.profile.trace.own_lines import OwnLines, own_lines
from stepscope.profile.trace.trace import Trace

Values = npt.NDArray[Any]


def carriers_of(trace: Trace, found: OwnLines, ops: Values) -> Values:
    """Of each operator the call of the user's code it belongs to, or -1; `ops` may hold -1 for "no operator".

    Operators of backward have no stack of their own: they count to the call that made their operator of forward.
    """
    at = np.where(ops >= 0, found.at[ops], -1)
    missing = np.flatnonzero((at < 0) & (ops >= 0))
    if len(missing):
        forward = trace.forward_op[ops[missing]]
        at[missing] = np.where(forward >= 0, found.at[forward], -1)
    return at


def top_lines(
    trace: Trace, facts: Mapping[str, Any], ops: Values, groups: Groups, weights: Values
) -> list[str | None] | None:
    """Of each group of operators the line with most weight; None without stacks in the trace."""
    found = own_lines(trace, facts)
    if found is None:
        return None
    at = carriers_of(trace, found, ops)
    line = np.where(at >= 0, found.key[at], -1)
    texts = [line_text(found, key) for key in range(len(found.keys))]
    return [texts[i] if i >= 0 else None for i in groups.leading(line, weights).tolist()]


def line_text(found: OwnLines, key: int) -> str:
    return f"{found.keys[key].file}:{found.keys[key].line}"


def stack_text(found: OwnLines, carrier: int) -> str | None:
    """The user's own lines from the outermost to this call: `train.py:45 > model.py:29 > model.py:19`."""
    lines: list[str] = []
    while carrier >= 0 and len(lines) < 40:
        text = line_text(found, int(found.key[carrier]))
        if not lines or lines[-1] != text:
            lines.append(text)
        carrier = int(found.up[carrier])
    return " > ".join(reversed(lines)) or None
