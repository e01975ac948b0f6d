"""Sequences: losses whose target is the next step of the input, and losses that count padding."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class NextStep:
    """A loss whose target is the input, shifted by one step."""

    place: Place | None
    visit: Visit
    """The call of the model that got the input."""
    argument: int
    """Which of its arguments."""
    axis: int
    length: int


@record
@dataclass(eq=False)
class PaddedLoss:
    """A loss that counts targets at padded steps."""

    place: Place | None
    visit: Visit | None
    value: int
    declared: bool
    """An embedding has it as its padding_idx."""
    counted: int = 0
    total: int = 0
    calls: int = 0


@table("sequences")
@dataclass(eq=False)
class Sequences:
    """`run.sequences`"""

    next_steps: list[NextStep] = field(default_factory=list)
    padded: dict[Place | None, PaddedLoss] = field(default_factory=dict)
