"""Dataset numberings: which number each word or class has in two datasets that one model sees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader

__all__ = ["DatasetNumberings", "TwoNumberings"]


@record
@dataclass(eq=False)
class TwoNumberings:
    """The same attribute of a dataset that is trained on, and of one that is only evaluated."""

    trained: Loader
    evaluated: Loader
    name: str
    """Where it is: `vocab`, `tokenizer.ids`."""
    common: int = 0
    """How many names both have."""
    different: int = 0
    """How many of these have another number."""
    example: tuple[str, int, int] = ("", 0, 0)
    """(name, number in training, number in evaluation)"""


@table("dataset_numberings")
@dataclass(eq=False)
class DatasetNumberings:
    """`run[DatasetNumberings]`"""

    all: list[TwoNumberings] = field(default_factory=list)
