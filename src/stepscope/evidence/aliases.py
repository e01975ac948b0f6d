"""Aliases: an optimizer's parameters that are different objects over the same memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.modules import Parameter


@record
@dataclass(eq=False)
class Alias:
    """Two or more parameters that share memory."""

    optimizer: int
    """An index into `run.optimizers.made`."""
    parameters: list[Parameter] = field(default_factory=list)


@table("aliases")
@dataclass(eq=False)
class Aliases:
    """`run[Aliases]`"""

    all: list[Alias] = field(default_factory=list)
