"""Checkpoints: what is taken from models, saved, loaded and restored, and which of it shares memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.modules import Module
    from stepscope.records.place import Place


@record
class Taken:
    """One `state_dict()` of a module; its tensors share the model's memory."""

    __slots__ = ("module", "place", "step", "type")

    def __init__(self, module: Module, place: Place | None, step: int) -> None:
        self.module = module
        self.type = module.type
        self.place = place
        self.step = step


@record
class Loading:
    """One `load_state_dict()` of a module."""

    __slots__ = (
        "file", "given", "missing", "module", "own", "place", "shapes_fit", "step", "taken", "type", "unexpected",
    )  # fmt: skip

    def __init__(self, module: Module, place: Place | None, step: int) -> None:
        self.module = module
        self.type = module.type
        self.place = place
        self.step = step
        self.given = 0
        """Number of tensors given."""
        self.own = 0
        """Number of them that share the module's memory."""
        self.taken: Taken | None = None
        """The `state_dict()` they came from."""
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.shapes_fit: list[tuple[str, str]] = []
        """(given name, name in the model): names that would match without a prefix, with the same shape."""
        self.file: FileRead | None = None
        """The file it came from."""

    @property
    def matched(self) -> int:
        return self.given - len(self.unexpected)


@record
class FileRead:
    """One `torch.load()`."""

    __slots__ = ("keys", "optimizers", "path", "place", "restored", "schedulers", "step")

    def __init__(self, path: str, place: Place | None, step: int) -> None:
        self.path = path
        self.place = place
        self.step = step
        self.optimizers = 0
        """Number of optimizer states in it."""
        self.schedulers: list[int] = []
        """How far each scheduler with a state in it had advanced."""
        self.keys: list[str] = []
        self.restored = 0
        """Number of those passed to an optimizer."""


@record
class FileWritten:
    """One `torch.save()`."""

    __slots__ = ("modules", "path", "place", "stale", "step")

    def __init__(self, path: str, place: Place | None, step: int) -> None:
        self.path = path
        self.place = place
        self.step = step
        self.modules: list[str] = []
        """Whole modules in it, by type."""
        self.stale: Taken | None = None
        """Its tensors are a model's own memory, taken earlier: they have changed since."""


@table("checkpoints", version=2)
@dataclass(eq=False)
class Checkpoints:
    """`run.checkpoints`"""

    loadings: list[Loading] = field(default_factory=list)
    reads: list[FileRead] = field(default_factory=list)
    writes: list[FileWritten] = field(default_factory=list)
    optimizer_loads: list[tuple[int, int]] = field(default_factory=list)
    """(number of the optimizer, step) of each `optimizer.load_state_dict()`."""
