"""A step while it is being recorded: mutable drafts, no tensors, turned into a `StepRecord` at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.record.identity import Tensors
    from stepscope.records.step import Phase, Stats

Ref = tuple[int, int]
"""(tensor number, version)"""


class OpDraft:
    """One op, as far as it is known. Observers write its cost and statistics.

    Fields that most ops leave alone are defaults of the class: a draft is made for every op, and setting twenty
    fields would cost more than some ops do.
    """

    index = -1
    site: Any = None
    args: Any = None
    inputs: Sequence[Ref] = ()
    outputs: Sequence[Ref] = ()
    inplace = False
    view = False
    is_node = False
    """A node of autograd's, or a sum of its engine."""
    forward: OpDraft | None = None
    backward: Sequence[str] = ()
    began = 0
    ended = 0
    thread = 0
    """0 for the recorded one; autograd runs the nodes of a device on threads of its own."""
    host_us: float | None = None
    device_us: float | None = None
    flops: int | None = None
    macs: int | None = None
    saved_bytes = 0
    input_stats: list[Stats | None] | None = None
    output_stats: list[Stats | None] | None = None
    error: str | None = None

    def __init__(self, name: str, phase: Phase, call: CallDraft | None) -> None:
        self.name = name
        self.phase = phase
        self.call = call
        """The innermost module call it ran in."""


class CallDraft:
    """One run of a module's forward."""

    __slots__ = (
        "began",
        "call",
        "device_us",
        "ended",
        "error",
        "first_op",
        "host_us",
        "index",
        "inputs",
        "last_op",
        "module",
        "outputs",
        "parent",
        "place",
        "recomputed",
        "root",
        "sequence",
    )

    def __init__(self, index: int, module: Any, call: int, parent: CallDraft | None, first_op: int) -> None:
        self.index = index
        self.module = module
        """The `modules.ModuleEntry` of the module: `.path`, `.type`."""
        self.call = call
        self.parent = parent
        self.first_op = first_op
        self.last_op = first_op - 1
        self.inputs: list[Ref] = []
        self.outputs: list[Ref] = []
        self.host_us: float | None = None
        self.device_us: float | None = None
        self.began = self.ended = self.root = 0
        """`root`: to which tree of modules its module belonged then; 0 is the model."""
        self.place: Any = None
        """Which line of the user's called it; known where its forward is torch's own, or is recorded as one op."""
        self.recomputed = False
        self.sequence = 0
        """Autograd's counter when it began: nodes from here on were made inside."""
        self.error: str | None = None


class Drafts:
    """The growing step: what observers get at the start and at the end."""

    __slots__ = ("calls", "ended", "looks", "notes", "ops", "tensors", "unseen")

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors
        self.ops: list[OpDraft] = []
        self.calls: list[CallDraft] = []
        self.ended: list[OpDraft] = []
        """The ops in the order in which they ended."""
        self.looks: list[Any] = []
        """With `Observer.wants_values`: a ghost, its version and what was seen of it, for each look."""
        self.unseen: dict[tuple[str, str], int] = {}
        """(what, where) -> how often."""
        self.notes: dict[str, Any] = {}
        """Lands in `StepRecord.notes`; JSON-ready."""

    def not_seen(self, what: str, where: str = "") -> None:
        """Say that something ran which the recording could not look into."""
        self.unseen[(what, where)] = self.unseen.get((what, where), 0) + 1
