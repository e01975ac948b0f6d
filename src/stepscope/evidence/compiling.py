"""Compiling: the number of graphs dynamo has made by each step. Read from its own counters; nothing is hooked."""

from __future__ import annotations

from dataclasses import dataclass, field

from stepscope.evidence.registry import table


@table("compiling")
@dataclass(eq=False)
class Compiling:
    """`run.compiling`"""

    graphs: list[int] = field(default_factory=list)
    """After each optimizer step: the number of graphs so far."""
