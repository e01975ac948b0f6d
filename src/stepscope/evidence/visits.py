"""Visits: the calls of the script's modules, with their inputs and outputs."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.modules import Module
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place

_KEPT = 4000


@record
class Visit:
    """One run of a module's forward."""

    __order__ = "time"
    __after__ = "parent"
    __clocks__ = ("time",)

    __slots__ = (
        "batch", "depth", "error", "grad", "index", "inputs", "module", "outputs", "parent", "path", "place",
        "shapes_in", "shapes_out", "step", "time", "training", "type",
    )  # fmt: skip

    def __init__(self, module: Module, training: bool, parent: Visit | None, place: Place | None) -> None:
        self.module = module
        self.type = module.type
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.place = place
        """Where the user's code called it."""
        self.path = ""
        """Its name inside its root module; "" for the root itself."""
        self.training = training
        self.grad = True
        """Whether gradients were enabled."""
        self.step = 0
        self.time = 0.0
        self.index = 0
        self.batch: int | None = None
        """The number of the last delivered batch when it was called."""
        self.inputs: tuple[Origin, ...] = ()
        self.outputs: tuple[Origin, ...] = ()
        self.shapes_in: list[tuple[int, ...]] = []
        self.shapes_out: list[tuple[int, ...]] = []
        self.error = False

    @property
    def root(self) -> Visit:
        visit = self
        while visit.parent is not None:
            visit = visit.parent
        return visit

    def __repr__(self) -> str:
        return f"Visit({self.path or self.type}, {self.shapes_in} -> {self.shapes_out})"


@table("visits")
@dataclass(eq=False)
class Visits:
    """`run.visits`"""

    roots: deque[Visit] = field(default_factory=lambda: deque(maxlen=_KEPT))
    """Calls of root modules, latest last; those recorded in depth, and every one without gradients."""
    latest: list[Visit] = field(default_factory=list)
    """All visits of the last (or running) root call, in order: the path of a shape."""
    count: int = 0
