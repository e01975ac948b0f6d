"""Evaluation graphs: totals and lists of an evaluation that keep the graph of every one of its batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["EvaluationGraph", "EvaluationGraphs"]


@record
@dataclass(eq=False)
class EvaluationGraph:
    """A line that puts results of batch after batch together, with their graphs, and no backward uses it."""

    place: Place
    passes: int = 0
    longest: int = 0
    """Number of batches in the longest pass."""


@table("evaluation_graphs")
@dataclass(eq=False)
class EvaluationGraphs:
    """`run[EvaluationGraphs]`"""

    all: list[EvaluationGraph] = field(default_factory=list)
