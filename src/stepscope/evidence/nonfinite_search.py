"""What the autograd graph of a non-finite loss reveals about its cause."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from stepscope.evidence.registry import record
from stepscope.records.finite import is_bad, said_of
from stepscope.records.step import Stats

Kind = Literal["input", "parameter", "forward", "loss"]


@record
@dataclass(kw_only=True)
class Verdict:
    """The verdict on a bad loss. `print` it."""

    kind: Kind | None
    """input, parameter, forward or loss; None if the graph does not tell."""
    node: str = ""
    """The autograd node of the op that produced it: `LogBackward0`."""
    names: tuple[str, ...] = ()
    """The bad parameter, or those the op used: they identify the module."""
    stats: Stats | None = None
    """Statistics of the non-finite values."""
    inputs: tuple[tuple[str, Stats | None], ...] = ()
    """The inputs that the op saved."""
    exact: bool = True
    """False: it was this op or one just before it, whose values were not saved."""
    candidates: tuple[str, ...] = ()
    """Those others."""
    sequence: int = -1
    """The node's autograd sequence number, in forward order."""

    def __str__(self) -> str:
        return _describe(self)


def _describe(verdict: Verdict) -> str:
    if verdict.kind is None:
        if verdict.stats is not None and not is_bad(verdict.stats):
            return f"the loss is finite ({verdict.stats.max if verdict.stats.max is not None else math.nan:.6g})"
        return (
            "the loss is not finite, and its autograd graph is gone (backward frees it); repeating the step would tell"
        )
    if verdict.kind == "parameter":
        return f"the parameter {verdict.names[0]} is not finite: {said_of(verdict.stats)}"
    if verdict.kind == "input":
        return f"the data is not finite: {said_of(verdict.stats)}; first seen at {verdict.node}"
    where = " (in the loss code)" if verdict.kind == "loss" else ""
    lines = [f"born in {verdict.node}{where}: {said_of(verdict.stats)}"]
    if verdict.names:
        lines.append(f"  it uses {', '.join(verdict.names)}")
    lines += [f"  read {name}: {said_of(stats)}" for name, stats in verdict.inputs]
    if not verdict.exact:
        others = f", or in {', '.join(verdict.candidates)}" if verdict.candidates else ""
        lines.append(f"  there or just before{others}: nobody kept those values; repeating the step would tell")
    return "\n".join(lines)
