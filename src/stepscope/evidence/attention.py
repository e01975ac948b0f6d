"""Attention: the masks at each place where a model attends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place


@record
@dataclass(eq=False)
class Masking:
    """The attention at one place, and its first masks."""

    kind: str
    """softmax · scaled_dot_product_attention · the name of a layer"""
    place: Place | None
    visit: Visit | None
    calls: int = 0
    looks: int = 0
    patterns: list[str] = field(default_factory=list)
    """none · causal · ahead (causal, but some steps too far) · future (only later steps) · other, per sample"""
    ahead: int = 0
    pads: list[str] = field(default_factory=list)
    """How padded keys were treated: hidden · shown (only they are) · ignored"""
    mask: Origin | None = None
    """Where the mask, or the masked scores, come from."""
    hides_itself: int = 0
    """How often a mask hid each position from itself and from fewer than half of the others."""
    size: tuple[int, int] = (0, 0)


@table("attention")
@dataclass(eq=False)
class Attention:
    """`run.attention`"""

    all: list[Masking] = field(default_factory=list)
