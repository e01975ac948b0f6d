"""An observer watches one subject of a running script and keeps plain facts about it for the rules.

To add one: a file here with a subclass of this and of its table in `stepscope.evidence`; the folder finds it. Override
what you need; methods left alone cost nothing. Every call is fenced. Inside a callback torch functions are not watched
and gradients are off; keep no tensor and no autograd node beyond the call (numbers, origins and weak references in
fields with an underscore are fine).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.steps import Backward, Step
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher


class Observer:
    """Override what you need."""

    ops: ClassVar[frozenset[str]] = frozenset()
    """The ops `op` wants to hear of; empty for all of them when `op` is overridden."""
    before_ops: ClassVar[frozenset[str]] = frozenset()
    """The ops `before_op` wants to hear of."""
    steady: ClassVar[bool] = False
    """It hears of every step, not only of those that are watched in detail: so it must cost next to nothing, and
    what it computes in those it computes `quietly`. Then `step_done` may come with None for the step."""

    everywhere: ClassVar[bool] = True
    """It takes part in every watch; others are added by who needs them (`watcher.add`)."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def install(self, installed: Installed) -> None:
        """Follow calls that have no event: `installed.before(point, ...)`, `installed.after(point, ...)`."""

    def op(self, call: Call) -> None:
        """An op has run (while looking closely)."""

    def before_op(self, call: Call) -> None:
        """An op is about to run (while looking closely)."""

    def op_failed(self, call: Call, error: BaseException) -> None:
        """An op has raised (while looking closely); `call` has its live inputs."""

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        """`backward()` is about to run on `roots`."""

    def backward_done(self, backward: Backward) -> None:
        """It has run; gradients are there."""

    def step_begins(self, step: Step, optimizer: Any) -> None:
        """An optimizer is about to step."""

    def step_done(self, step: Step, optimizer: Any) -> None:
        """It has stepped."""

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        """The outermost module of a call is about to run."""

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        """It has run (not called when it raised)."""

    def module_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Any module has run (while looking closely)."""

    def batch(self, loader: Loader, batch: Any) -> None:
        """A loader has delivered a batch."""

    def epoch_done(self, loader: Loader) -> None:
        """A loader has no more batches."""

    def resume(self) -> None:
        """Looking closely begins (again): steps since the last time were not seen."""

    def rest(self) -> None:
        """Looking closely ends: take away what is of no use until `resume`."""

    def step_aside(self) -> None:
        """Compiled code may run from now on: take away what the compiler would see."""

    def settle(self) -> None:
        """Rules are about to be asked: write down how things stand now that no event tells of."""

    def experiment(self) -> None:
        """The script has ended by itself: try out, `undisturbed`, what only trying tells, and write that down."""

    def finish(self) -> None:
        """The script is over; nothing is installed any more."""
