"""`stepscope.breakpoint`: stop in a debugger, at once or at the end of the step where a condition holds."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

from stepscope import events, fence
from stepscope.errors import UsageError

if TYPE_CHECKING:
    from torch.optim import Optimizer


class StepState:
    """What a condition is asked about: the step that has just ended. Numbers are read when they are asked for."""

    def __init__(self, step: int, optimizer: Optimizer, loss: Any, batch: Any, frame: FrameType | None) -> None:
        self.step = step
        """Counted from 0 since the breakpoint was set."""
        self.optimizer = optimizer
        self.batch = batch
        """What a DataLoader gave last; None without one."""
        self._loss, self._frame = loss, frame

    @property
    def loss(self) -> float | None:
        return None if self._loss is None else float(self._loss)

    @property
    def grad_norm(self) -> float | None:
        from stepscope.record.gradient_norm import total_norm

        gradients = [p.grad for group in self.optimizer.param_groups for p in group["params"] if p.grad is not None]
        norm = total_norm(gradients) if gradients else None
        return None if norm is None else float(norm)

    @property
    def lr(self) -> float:
        return float(self.optimizer.param_groups[0]["lr"])

    @property
    def locals(self) -> dict[str, Any]:
        """The variables of the function that called `optimizer.step()`."""
        return {} if self._frame is None else dict(self._frame.f_locals)

    @property
    def model(self) -> Any:
        """The module among those variables whose parameters the optimizer holds; None if there is none."""
        import torch

        held = {id(p) for group in self.optimizer.param_groups for p in group["params"]}
        found = [value for value in self.locals.values() if isinstance(value, torch.nn.Module)]
        return next((module for module in found if any(id(p) in held for p in module.parameters())), None)

    def __repr__(self) -> str:
        loss = self.loss
        return f"step {self.step}" + ("" if loss is None else f", loss {loss:.6g}")


@dataclass
class _Stop:
    """One conditional breakpoint, known by the line that set it."""

    when: Callable[[StepState], Any] | None
    every: int | None
    once: bool
    spent: bool = False

    def holds(self, state: StepState) -> bool:
        if self.spent or (self.every is not None and (state.step + 1) % self.every):
            return False
        return self.when is None or bool(self.when(state))


@dataclass
class _Armed:
    """All conditional breakpoints of this process, and the hooks they need while there are any."""

    stops: dict[tuple[Any, int], _Stop] = field(default_factory=dict)
    installed: Any = None
    steps: int = 0
    loss: Any = None
    batch: Any = None


_armed = _Armed()


def breakpoint(
    when: Callable[[StepState], Any] | None = None, *, every: int | None = None, once: bool | None = None
) -> None:
    """Stop in a debugger: at once, or at the end of the step where `when` first holds.

        stepscope.breakpoint()                                   # here
        stepscope.breakpoint(when=lambda s: s.loss > 10)         # before or inside the loop
        stepscope.breakpoint(every=100, when=lambda s: s.grad_norm > 5)

    `s` has `step`, `loss`, `grad_norm`, `lr`, `batch`, `model`, `optimizer` and `locals`. `every` looks at each Nth
    step only. `once` (the default for `when` alone) stops a single time. Your editor's debugger is used if attached.
    """
    if when is not None and not callable(when):
        raise UsageError(f"when is {when!r}; give a function of the step, such as lambda s: s.loss > 10")
    if every is not None and (not isinstance(every, int) or every < 1):
        raise UsageError(f"every is {every!r}; give a whole number of steps, 1 or more")
    caller = sys._getframe(1)
    if when is None and every is None:
        _stop_at(caller, "")
        return
    if not _is_first_rank():
        return
    key = (caller.f_code, caller.f_lineno)
    known = _armed.stops.get(key)
    if known is not None:  # inside the loop: the same breakpoint again, with this turn's variables
        known.when = when
        return
    _armed.stops[key] = _Stop(when, every, once if once is not None else every is None)
    _arm()


def clear_breakpoints() -> None:
    """Forget all conditional breakpoints and take their hooks away."""
    global _armed
    installed, _armed = _armed.installed, _Armed()
    if installed is not None:
        installed.remove()


def _is_first_rank() -> bool:
    """Several ranks cannot share one keyboard; the first one stops, the others wait for it at their next exchange."""
    return os.environ.get("RANK", "0") in ("", "0")


def _arm() -> None:
    if _armed.installed is not None:
        return
    _armed.installed = events.subscribe(
        "a breakpoint",
        backward_begins=_backward,
        batch_asked=_no_batch,
        batch_given=_note_batch,
        step_ends=_after_step,
    )


def _no_batch(iterator: Any) -> None:
    _armed.batch = None  # two batches at a time would be one more than without us


def _note_batch(iterator: Any, batch: Any, wall_s: float, cpu_s: float) -> None:
    _armed.batch = batch


def _backward(roots: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> None:
    if all(stop.spent for stop in _armed.stops.values()):
        _disarm()
    else:
        _note_loss(roots)


def _disarm() -> None:
    """Take the hooks away; never inside one of them: torch is iterating over the list that holds them."""
    installed, _armed.installed = _armed.installed, None
    if installed is not None:
        installed.remove()


def _note_loss(roots: Any) -> None:
    loss = roots[0] if isinstance(roots, (list, tuple)) else roots
    with events.quietly():
        if hasattr(loss, "numel") and loss.numel() == 1:
            _armed.loss = loss.detach()


def _after_step(optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    held = _which_holds(optimizer)
    if held is not None:
        stop, state, frame = held
        if stop.once:
            stop.spent = True
        _stop_at(frame, f"stepscope: stopped after {state!r}")


def _which_holds(optimizer: Optimizer) -> tuple[_Stop, StepState, FrameType] | None:
    frame = _user_frame(sys._getframe(1))
    state = StepState(_armed.steps, optimizer, _armed.loss, _armed.batch, frame)
    _armed.steps += 1
    _armed.loss = None
    with events.quietly():
        for stop in _armed.stops.values():
            if fence.fenced("the condition of stepscope.breakpoint", default=False)(stop.holds)(state):
                return (stop, state, frame) if frame is not None else None
    return None


def _user_frame(frame: FrameType | None) -> FrameType | None:
    from stepscope.record.observers.own_frames import is_own

    while frame is not None and not is_own(frame.f_code):
        frame = frame.f_back
    return frame


def _stop_at(frame: FrameType, text: str) -> None:
    """Stop in the debugger the user has: an editor's, the one PYTHONBREAKPOINT names, or ours."""
    if text:
        print(text, file=sys.stderr)  # noqa: T201
    if sys.breakpointhook is not sys.__breakpointhook__ or os.environ.get("PYTHONBREAKPOINT"):
        sys.breakpointhook()
        return
    from stepscope.launch.debugger import HINT, stop_in

    print(HINT, file=sys.stderr)  # noqa: T201
    stop_in(frame)
