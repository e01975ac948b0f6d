"""Warnings that were shown while the script ran: what they say, and the user's line that they are about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.step import Site

__all__ = ["PythonWarnings", "Warned"]


@record
@dataclass(eq=False)
class Warned:
    """One warning. Python shows most of them once for each line."""

    category: str
    """`UserWarning`, `RuntimeWarning` ..."""
    text: str
    site: Site | None = None
    """The line it names, where that is the user's own; else the line of theirs that led to it."""
    origin: str = ""
    """Whose code warned: the first name of its module, `torch` or `numpy`; empty for the user's own."""
    step: int = 0


@table("python_warnings")
@dataclass(eq=False)
class PythonWarnings:
    """`run[PythonWarnings]`"""

    all: list[Warned] = field(default_factory=list)
