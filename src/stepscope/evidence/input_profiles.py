"""Input profiles: the values of each input of a model, in training and at each place of evaluation, by feature."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

__all__ = ["InputProfile", "InputProfiles", "ModelInputProfiles"]


@record
@dataclass(eq=False)
class InputProfile:
    """The values of one input, over the calls of one phase; lists have one number per feature (channel, column)."""

    place: Place | None = None
    """Where the model was called."""
    origin: Origin | None = None
    """Of the input, the first time."""
    calls: int = 0
    rows: int = 0
    seen: int = 0
    """Number of rows that the model had been trained on."""
    mean: list[float] = field(default_factory=list)
    deviation: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    between: list[float] = field(default_factory=list)
    """The deviation of the rows' means."""
    each_standardized: bool = True
    """Each row by itself has mean 0 and deviation 1."""
    whole: bool = True
    """No row and no value was left out."""
    ids: dict[int, int] = field(default_factory=dict)
    """Of integer inputs: how often each value occurs."""


@record
@dataclass(eq=False)
class ModelInputProfiles:
    """One input of one model."""

    model: str
    """The name of the model's class."""
    position: int
    trained: InputProfile = field(default_factory=InputProfile)
    evaluated: list[InputProfile] = field(default_factory=list)


@table("input_profiles")
@dataclass(eq=False)
class InputProfiles:
    """`run[InputProfiles]`"""

    all: list[ModelInputProfiles] = field(default_factory=list)
