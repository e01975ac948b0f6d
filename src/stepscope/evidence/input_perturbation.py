"""Input perturbation: a model's response to altered input, tested in a fork beside the training."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit


@record
class Perturbation:
    """The result of testing one model."""

    __slots__ = ("leaks", "length", "mixing", "rows", "visit", "why")

    def __init__(self, visit: Visit, answer: dict[str, Any]) -> None:
        self.visit = visit
        self.mixing: float | None = answer.get("mixing")
        """The relative change of other samples' outputs when one sample is replaced."""
        self.rows: int = answer.get("rows", 0)
        self.leaks: list[int] | None = answer.get("leaks")
        """The steps before the last whose outputs change when the last step of the input does."""
        self.length: int = answer.get("length", 0)
        self.why: str = answer.get("why", "")
        """Why it could not be tested."""


@table("input_perturbation")
@dataclass(eq=False)
class InputPerturbations:
    """`run.input_perturbation`"""

    all: list[Perturbation] = field(default_factory=list)

    def of(self, visit: Visit) -> list[Perturbation]:
        """The results for the model of this call."""
        return [trial for trial in self.all if trial.visit.module is visit.root.module]
