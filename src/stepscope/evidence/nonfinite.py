"""Non-finite values: ops with NaN, Inf or infinite slope, and the alarm when that did damage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.nonfinite_search import Verdict
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place
    from stepscope.records.step import Stats

STEEP = frozenset({"sqrt", "sqrt_", "pow", "pow_", "acos", "asin", "arccos", "arcsin", "float_power"})
"""Functions whose slope is unbounded somewhere in their domain."""


@record
class Spot:
    """An op with a non-finite result or slope."""

    __slots__ = ("arguments", "index", "kind", "made", "meant", "op", "place", "reads", "step", "visit")

    def __init__(self, kind: str, op: str, place: Place | None, index: int = 0, step: int = 0) -> None:
        self.kind = kind
        """value (NaN or Inf) · slope (finite, but its derivative is not)"""
        self.op = op
        self.place = place
        self.index = index
        self.step = step
        self.visit: Visit | None = None
        self.made: Stats | None = None
        self.reads: list[Stats | None] = []
        self.meant = False
        """The infinity is intended, as in a mask."""
        self.arguments: dict[str, Any] = {}


@record
class Alarm:
    """The first time the numbers became non-finite."""

    __slots__ = (
        "__weakref__", "backward", "kind", "numpy_warnings", "origin", "parameters", "place", "seen", "step", "value",
        "verdict",
    )  # fmt: skip

    def __init__(self, kind: str, backward: Backward, step: int) -> None:
        self.kind = kind
        """loss (not finite at backward) · gradient (not finite, of a finite loss)"""
        self.backward = backward
        self.place: Place | None = backward.place
        self.origin: Origin | None = backward.origin
        self.value = backward.loss
        self.step = step
        self.verdict: Verdict | None = None
        """The result of searching the loss's graph."""
        self.parameters: list[str] = []
        """Parameters that were not finite before (for a bad loss), or whose gradients are not."""
        self.seen = True
        """Operations were traced when the loss was computed."""
        self.numpy_warnings: list[tuple[str, str, int]] = []
        """(text, file, line) of warnings at the user's own lines by then."""


@table("nonfinite")
@dataclass(eq=False)
class Nonfinite:
    """`run.nonfinite`"""

    alarm: Alarm | None = None
    """Confirmed: the damage is done."""
    spots: list[Spot] = field(default_factory=list)
