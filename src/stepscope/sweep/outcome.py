"""How one run of a sweep ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Outcome:
    """How one run of a sweep ended, for the strategy to learn from."""

    number: int
    params: Mapping[str, Any]
    state: Literal["finished", "pruned", "diverged", "failed", "timeout"]
    value: float | None = None
    readings: Mapping[int, float] | None = None
    """The metric by step, where the strategy may learn from a run that was stopped early."""
