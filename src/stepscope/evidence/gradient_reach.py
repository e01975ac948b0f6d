"""Gradient reach: with several optimizers, whose parameters each backward gives gradients to, through which models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit


@record
@dataclass(eq=False)
class Reach:
    """One backward."""

    backward: Backward
    optimizers: set[int] = field(default_factory=set)
    """The optimizers whose parameters it gave gradients to."""
    feeds: dict[tuple[int, int], Visit] = field(default_factory=dict)
    """(a, b) -> the call of a model of optimizer b that read the output of a model of optimizer a."""


@table("gradient_reach")
@dataclass(eq=False)
class GradientReach:
    """`run.gradient_reach`"""

    all: list[Reach] = field(default_factory=list)
