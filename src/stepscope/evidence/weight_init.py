"""Weight init: the weights when a model was first called, and which line had filled them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.modules import Module, Parameter
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Filling:
    """The op that last filled a block of memory."""

    op: str
    place: Place | None = None
    arguments: list[float] = field(default_factory=list)


@record
@dataclass(eq=False)
class InitialWeight:
    """A weight (of two or more axes) when its model was first called."""

    name: str
    parameter: Parameter
    owner: Module | None = None
    """The module that owns it; None for the script's own tensor."""
    filling: Filling | None = None
    step: int = 0
    constant: float | None = None
    """The value of all its elements."""
    mean: float = 0.0
    std: float = 0.0
    is_zero: bool | None = None
    """For a constant one, its current state: all zero. None: not checked."""
    has_moved: bool = False
    rows_are_alike: bool = False
    gradient_is_zero: bool = False
    gradient_is_alike: bool = False
    """The gradient was equal for all rows: no step will make them differ."""

    @property
    def path(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def type(self) -> str:
        return "" if self.owner is None else self.owner.type

    @property
    def gain(self) -> float:
        """The approximate factor by which a layer scales its input."""
        shape = self.parameter.shape
        fan_in = self.parameter.size // max(shape[0], 1) if shape else 1
        return self.std * math.sqrt(fan_in)


@table("weight_init", version=2)
@dataclass(eq=False)
class WeightInit:
    """`run.weight_init`"""

    weights: list[InitialWeight] = field(default_factory=list)
