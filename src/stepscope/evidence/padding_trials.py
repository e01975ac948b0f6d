"""Padding trials: how much a model's answers change when every sequence of a batch gets more padding."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit

__all__ = ["PaddingTrial", "PaddingTrials"]


@record
@dataclass(eq=False)
class PaddingTrial:
    """One model, called with its batch and with the same batch and more padding."""

    visit: Visit
    rows: int
    steps: int
    padding: float
    """The share of the batch's steps that were padding."""
    added: int
    """Number of padded steps added to each sequence."""
    change: float
    """The change of the answers, relative to how much they differ between the samples."""
    each_step: bool
    """There is an answer for each step; those at padding do not count."""


@table("padding_trials")
@dataclass(eq=False)
class PaddingTrials:
    """`run[PaddingTrials]`"""

    all: list[PaddingTrial] = field(default_factory=list)
