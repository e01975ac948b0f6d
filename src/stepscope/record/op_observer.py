"""What watches ops while they are recorded: cost, statistics and saved bytes plug in here.

An observer overrides the methods it needs; those it leaves alone cost nothing. Each call is fenced: a fault in an
observer is reported once and neither the recording nor the training sees it. Observers run with torch functions
disabled, on the thread that runs the op, so what they compute is not recorded.

Two things an observer must keep to:
- keep no tensor, result or autograd node beyond the call it was given in (take numbers at once);
- never read a node's `_saved_*` while saved-tensor hooks are on: unpacking would run a checkpoint's forward again.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from stepscope import fence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stepscope.record.step_builder import CallDraft, Drafts, OpDraft


class OpCall:
    """One op while it runs. Gone when the op is over; `draft` is what stays."""

    __slots__ = ("args", "draft", "function", "inputs", "kwargs", "nodes", "outputs", "result")

    def __init__(
        self,
        draft: OpDraft,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        inputs: list[Any],
    ) -> None:
        self.draft = draft
        self.function = function
        """What was called, as torch hands it to a torch-function handler."""
        self.args = args
        self.kwargs = kwargs
        self.inputs = inputs
        """The tensors among the arguments, in order, as `draft.inputs` numbers them."""
        self.result: Any = None
        """What it returned; in `after` only."""
        self.outputs: list[Any] = []
        """The tensors of `result`, as `draft.outputs` numbers them (`after` only); in-place targets follow."""
        self.nodes: list[Any] = []
        """The autograd nodes this op made (`after` only): read, never keep."""


class Observer:
    """Override what you need. Write results into the draft: `draft.host_us`, `draft.flops`, `draft.output_stats` ...

    What can be derived from the drafts is best left to `build`: the training does not wait for that.
    """

    wants_clock = False
    """Have the clock read around every op: `draft.began` and `draft.ended`, in nanoseconds."""

    wants_values = False
    """Have the smallest and largest value of each tensor looked at: `drafts.looks`."""

    def hears(self, method: str) -> bool:
        """Whether this method is worth calling."""
        kind: Any = type(self)
        return _overrides(kind, method)

    def start(self, drafts: Drafts) -> None:
        """The recording begins."""

    def before(self, call: OpCall) -> None:
        """An op is about to run; `call.inputs` are set. Called last before the op, so a clock read here is close."""

    def after(self, call: OpCall) -> None:
        """An op has returned (not called when it raised)."""

    def returned(self, call: OpCall) -> None:
        """Called first after the op, before any bookkeeping, with nothing set yet: for clocks and device events."""

    def claimed(self, draft: OpDraft, nodes: Sequence[Any], inputs: Sequence[Any]) -> None:
        """These autograd nodes were made by the op, from these inputs: read, never keep."""

    def module_before(self, call: CallDraft) -> None:
        """A module's forward begins."""

    def module_after(self, call: CallDraft) -> None:
        """A module's forward has ended, by return or by exception."""

    def backward_before(self, draft: OpDraft, gradients: Sequence[Any]) -> None:
        """An autograd node is about to run; the gradients (some may be None) flow into it."""

    def backward_after(self, draft: OpDraft, produced: Sequence[Any], gradients: Sequence[Any]) -> None:
        """An autograd node has run and made the gradients `produced` (some may be None)."""

    def finish(self, drafts: Drafts) -> None:
        """The recording is over and nothing of it runs any more: synchronize, read events, free tensors."""

    def build(self, drafts: Drafts) -> None:
        """The record is put together, perhaps much later: fill the drafts."""


@cache
def _overrides(kind: type[Observer], method: str) -> bool:
    return getattr(kind, method) is not getattr(Observer, method)


def tell(watchers: Sequence[Callable[..., None]], *what: Any) -> None:
    """Call each observer; a fault of one is reported and the others still hear of it."""
    for watch in watchers:
        try:
            watch(*what)
        except Exception as fault:
            fence.report(f"an observer ({getattr(watch, '__name__', 'method')})", fault)
