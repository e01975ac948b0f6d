"""Ignored arguments: what functions of the script were given while it trained and never read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.place import Place

__all__ = ["IgnoredArgument", "IgnoredArguments"]


@record
@dataclass(eq=False)
class IgnoredArgument:
    """One argument of one function, the first time it was seen to run."""

    function: Place
    """Where the function was when it was seen."""
    name: str
    kind: str
    """tensor · array · numbers · model · loader · optimizer"""
    caller: Place
    shape: tuple[int, ...] = ()
    others: int = 0
    """Number of tensors, arrays and lists of numbers among the arguments that it does read."""
    instead: str = ""
    """A variable from outside the function that it reads, of the same kind and another object."""


@table("ignored_arguments")
@dataclass(eq=False)
class IgnoredArguments:
    """`run[IgnoredArguments]`"""

    all: list[IgnoredArgument] = field(default_factory=list)
