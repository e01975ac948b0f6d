"""Model inputs: the values with which data meets the first weights of a model, after all scaling."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.value_sample import TensorLook
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place


@record
class ModelInput:
    """One place where data is multiplied by weights before any learnable op."""

    __slots__ = ("calls", "looks", "normalised_next", "op", "origin", "place", "visit")

    def __init__(self, op: str, place: Place | None, visit: Visit | None, origin: Origin) -> None:
        self.op = op
        self.place = place
        self.visit = visit
        self.origin = origin
        """Of the data, the first time."""
        self.looks: list[TensorLook] = []
        self.calls = 0
        self.normalised_next = False
        """A normalization follows directly: the scale does not matter."""


@table("model_inputs")
@dataclass(eq=False)
class ModelInputs:
    """`run.model_inputs`"""

    all: list[ModelInput] = field(default_factory=list)
