"""The exception that ended the script, its frames, and what was there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.evidence.frame_values import ModuleSeen, Scope
from stepscope.evidence.registry import record, table
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.evidence.indices import OutOfRange
    from stepscope.evidence.modules import Module
    from stepscope.evidence.tensor_history import Failed
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place

__all__ = ["Callee", "Crash", "Frame", "Missing", "WorkerFrame"]


@record
@dataclass(eq=False)
class Frame:
    """One frame of the traceback."""

    file: str
    function: str
    first_line: int
    """Where its function begins."""
    line: int
    site: Site
    span: tuple[int, int, int, int] | None = None
    """What was running: first and last line, first and last column; None where Python does not tell."""
    own: bool = False
    """It is the user's own code."""
    code: str = ""
    """Of what is not the user's: the expression that was running. Their own files are kept whole."""
    arguments: list[str] = field(default_factory=list)
    """The names of the function's positional arguments."""
    inner: Scope = field(default_factory=Scope)
    """Its local variables."""
    outer: Scope = field(default_factory=Scope)
    """The variables of its file; empty for a frame that is not the user's."""


@record
@dataclass(eq=False)
class WorkerFrame:
    """A frame of a DataLoader worker, known only by its text."""

    file: str
    line: int
    function: str
    own: bool = False

    @property
    def site(self) -> Site:
        return Site(file=self.file, line=self.line, function=self.function)


@record
@dataclass(eq=False)
class Missing:
    """A name, attribute or key that was asked for and is not there."""

    name: str
    owner: str = ""
    """The class of the object that was asked, or the module's name; "" for a variable."""
    near: list[str] = field(default_factory=list)
    """What is there under a similar name, the most similar first."""
    there: list[str] = field(default_factory=list)
    """The first names or keys that are there."""


@record
@dataclass(eq=False)
class Callee:
    """The function that was called with arguments it does not take."""

    name: str
    parameters: list[str] = field(default_factory=list)
    """As they are written: `x`, `mask=None`, `*args`; without `self`."""
    site: Site | None = None
    """Where it is defined, if the user wrote it."""


@table("crash", version=2)
@dataclass(eq=False)
class Crash:
    """`run.crash`: what ended the script."""

    type: str = ""
    kinds: tuple[str, ...] = ()
    """The names of the exception's class and of those it is derived from."""
    text: str = ""
    """What it says; "" where it cannot be printed."""
    raised_as: str = ""
    """The class of what reached the top: another one where this was raised first and that one from it."""
    grad_enabled: bool = True
    default_dtype: str = "float32"
    frames: list[Frame] = field(default_factory=list)
    """Outermost first."""
    worker: list[WorkerFrame] | None = None
    """The frames inside a DataLoader worker that failed; None when it was not a worker."""
    failed_op: Failed | None = None
    """The last op that was seen to raise."""
    visits: list[Visit] = field(default_factory=list)
    """The layers of the model's last call, in order."""
    calls_done: int = 0
    """How many calls of models had ended well."""
    frozen: bool = False
    """No parameter of any model that ran requires a gradient."""
    stepped: Place | None = None
    """Where an optimizer last stepped."""
    broken: OutOfRange | None = None
    """The op whose numbers its device could not take."""
    modules: dict[Module, ModuleSeen] = field(default_factory=dict)
    own_files: set[str] = field(default_factory=set)
    """Of the files that made modules, those of the user."""
    unmade: tuple[str, Site] | None = None
    """The class of a module whose `super().__init__()` has not run, and the line of its constructor."""
    missing: Missing | None = None
    """Of a NameError, an AttributeError or a KeyError: what is not there, and what is."""
    callee: Callee | None = None
    """Of a call with the wrong arguments: what was called."""

    def is_a(self, *kinds: str) -> bool:
        """Whether the exception is of one of these classes, or of one derived from it."""
        return any(kind in self.kinds for kind in kinds)
