"""The user's line of each operator in traces that write stacks as text, as torch before 1.13 did."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.own_lines import LineKey
from stepscope.profile.trace.python_names import frame_of
from stepscope.profile.trace.trace import Trace

Ints = npt.NDArray[Any]


def stack_lines(trace: Trace) -> tuple[list[LineKey], Ints] | None:
    """The lines, and for each event the number of its line or -1; None where no stack has a line of the user's."""
    column = trace.events.args.get("Call stack")
    if column is None:
        return None
    index: dict[LineKey, int] = {}
    of_text = np.full(len(trace.events.texts) + 1, -1, np.int64)
    for text in np.unique(column.values).tolist():
        key = _own_line(trace.events.texts[text])
        if key is not None:
            of_text[text] = index.setdefault(key, len(index))
    if not index:
        return None
    at = of_text[trace.events.text_index("Call stack")]
    up = trace.op_parent
    missing = (trace.kind == Kind.OP.value) & (at < 0)
    while missing.any():  # operators inside others have no stack of their own
        climb = np.flatnonzero(missing & (up >= 0))
        if not len(climb):
            break
        at[climb] = at[up[climb]]
        up = np.where(up >= 0, trace.op_parent[up], -1)
        missing &= at < 0
    return list(index), at


def _own_line(stack: str) -> LineKey | None:
    """The innermost frame of the user's own; stacks begin with the innermost."""
    for name in stack.split(";"):
        frame = frame_of(name)
        if frame.own:
            return LineKey(frame.file, frame.line, frame.function, True)
    return None
