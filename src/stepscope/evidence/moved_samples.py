"""Moved samples: pictures that a dataset flips or turns at random, and whether their masks move with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader

__all__ = ["MovedSamples", "SamplesMoved"]


@record
@dataclass(eq=False)
class MovedSamples:
    """One dataset, asked several times for the same samples when the script was over."""

    loader: Loader
    left: int = 0
    """How often the picture was moved and its mask was not."""
    together: int = 0
    """How often the mask was, with its picture or alone."""
    move: str = ""


@table("moved_samples")
@dataclass(eq=False)
class SamplesMoved:
    """`run[SamplesMoved]`"""

    all: list[MovedSamples] = field(default_factory=list)
