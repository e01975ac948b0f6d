"""Warnings shown while the script ran: their text, and the user's line they are about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.records.step import Site


@record
@dataclass(eq=False)
class Warned:
    """One warning. Python shows most of them once per line."""

    category: str
    """`UserWarning`, `RuntimeWarning` ..."""
    text: str
    site: Site | None = None
    """The line it names, if it is the user's; else the user's line that led to it."""
    origin: str = ""
    """The package that warned: the first part of its module, `torch` or `numpy`; empty for the user's own."""
    step: int = 0


@table("python_warnings")
@dataclass(eq=False)
class PythonWarnings:
    """`run[PythonWarnings]`"""

    all: list[Warned] = field(default_factory=list)
