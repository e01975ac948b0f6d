"""Weight init: how weights were when a model was first called, and which line had filled them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.modules import Module, Parameter
    from stepscope.records.place import Place

__all__ = ["Filling", "InitialWeight", "WeightInit"]


@record
@dataclass(eq=False)
class Filling:
    """The op that gave a piece of memory its values last."""

    op: str
    place: Place | None = None
    arguments: list[float] = field(default_factory=list)


@record
@dataclass(eq=False)
class InitialWeight:
    """A weight (of two or more axes) as it was when its model was first called."""

    name: str
    parameter: Parameter
    owner: Module | None = None
    """The module that holds it; None for a tensor of the script's own."""
    filling: Filling | None = None
    step: int = 0
    constant: float | None = None
    """The value all of it has."""
    mean: float = 0.0
    std: float = 0.0
    is_zero: bool | None = None
    """Of a constant one, how it stands now: all of it is zero. None: not looked at."""
    has_moved: bool = False
    rows_are_alike: bool = False
    gradient_is_zero: bool = False
    gradient_is_alike: bool = False
    """At a look the gradient did not tell its rows apart: no step will."""

    @property
    def path(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def type(self) -> str:
        return "" if self.owner is None else self.owner.type

    @property
    def gain(self) -> float:
        """By how much a layer makes its input larger, about."""
        shape = self.parameter.shape
        fan_in = self.parameter.size // max(shape[0], 1) if shape else 1
        return self.std * math.sqrt(fan_in)


@table("weight_init", version=2)
@dataclass(eq=False)
class WeightInit:
    """`run.weight_init`"""

    weights: list[InitialWeight] = field(default_factory=list)
