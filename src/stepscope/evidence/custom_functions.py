"""Custom functions: whether the `backward` of an `autograd.Function` is the derivative of its `forward`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place
    from stepscope.records.step import Site


@record
@dataclass(eq=False)
class CustomFunction:
    """What came of comparing one of them with finite differences, on the inputs it got in training."""

    name: str
    backward: Site
    """Where its `backward` begins."""
    place: Place | None
    """Where it was applied."""
    argument: int
    """The argument whose gradient differs most, counted without `ctx`."""
    slope: float
    """How the output changes along a direction, by finite differences."""
    gradient: float
    """The same by its `backward`."""
    ignores_output_gradient: bool
    """Its result does not change with the gradient it is given."""


@table("custom_functions")
@dataclass(eq=False)
class CustomFunctions:
    """`run[CustomFunctions]`"""

    wrong: list[CustomFunction] = field(default_factory=list)
