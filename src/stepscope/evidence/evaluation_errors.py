"""Evaluation errors: differences between a model's answers and targets, outside of training, and the range of both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class EvaluationError:
    """One line that compares the two; the numbers are those of its last call that was looked at."""

    place: Place
    op: str
    answers: tuple[float, float]
    targets: tuple[float, float]
    """Smallest and largest value."""
    answers_mean: float
    targets_mean: float
    count: int = 0


@table("evaluation_errors")
@dataclass(eq=False)
class EvaluationErrors:
    """`run[EvaluationErrors]`"""

    all: list[EvaluationError] = field(default_factory=list)
