"""The exception that ended the script, its frames, and their state."""

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
    """The running expression: first and last line, first and last column; None if Python does not provide it."""
    own: bool = False
    """Whether it is the user's own code."""
    code: str = ""
    """For other code: the running expression. The user's own files are stored whole."""
    arguments: list[str] = field(default_factory=list)
    """The names of the function's positional arguments."""
    inner: Scope = field(default_factory=Scope)
    """Its local variables."""
    outer: Scope = field(default_factory=Scope)
    """The variables of its file; empty for a frame that is not the user's."""


@record
@dataclass(eq=False)
class WorkerFrame:
    """A frame of a DataLoader worker, known only from its text."""

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
    """A name, attribute or key that does not exist."""

    name: str
    owner: str = ""
    """The class of the object, or the module's name; "" for a variable."""
    near: list[str] = field(default_factory=list)
    """Similar existing names, most similar first."""
    there: list[str] = field(default_factory=list)
    """The first existing names or keys."""


@record
@dataclass(eq=False)
class Callee:
    """The function that was called with wrong arguments."""

    name: str
    parameters: list[str] = field(default_factory=list)
    """As written: `x`, `mask=None`, `*args`; without `self`."""
    site: Site | None = None
    """Where it is defined, if the user wrote it."""


@table("crash", version=2)
@dataclass(eq=False)
class Crash:
    """`run.crash`: what ended the script."""

    type: str = ""
    kinds: tuple[str, ...] = ()
    """The names of the exception's class and its base classes."""
    text: str = ""
    """Its message; "" if it cannot be printed."""
    raised_as: str = ""
    """The class of the exception that reached the top, if it was raised from this one."""
    grad_enabled: bool = True
    default_dtype: str = "float32"
    frames: list[Frame] = field(default_factory=list)
    """Outermost first."""
    worker: list[WorkerFrame] | None = None
    """The frames inside a failed DataLoader worker; None if it was not a worker."""
    failed_op: Failed | None = None
    """The last op that was seen to raise."""
    visits: list[Visit] = field(default_factory=list)
    """The layers of the model's last call, in order."""
    calls_done: int = 0
    """Number of model calls that succeeded."""
    frozen: bool = False
    """No parameter of any model that ran requires a gradient."""
    stepped: Place | None = None
    """Where an optimizer last stepped."""
    broken: OutOfRange | None = None
    """The op whose indices were invalid on its device."""
    modules: dict[Module, ModuleSeen] = field(default_factory=dict)
    own_files: set[str] = field(default_factory=set)
    """The user's files that define modules."""
    unmade: tuple[str, Site] | None = None
    """The class of a module whose `super().__init__()` has not run, and the line of its constructor."""
    missing: Missing | None = None
    """For a NameError, AttributeError or KeyError: what is missing, and what exists."""
    callee: Callee | None = None
    """For a call with wrong arguments: what was called."""

    def is_a(self, *kinds: str) -> bool:
        """Whether the exception is an instance of one of these classes."""
        return any(kind in self.kinds for kind in kinds)
