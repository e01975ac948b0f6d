"""The pulse: loss, gradient norm and learning rate of every step, watched without waiting for a device.

Two hooks a step: one at the engine's door, where `backward` says which tensor is the loss, and one before the
optimizer's step, where all gradients are there. On a CPU the numbers are read at once; on a device they travel behind
the step and are read when a later step begins, so that the training never waits.
"""

from __future__ import annotations

import math
import os
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import msgspec
import torch

from stepscope import events, fence
from stepscope.common import clocks
from stepscope.events import Installed
from stepscope.events.aside import is_capturing
from stepscope.events.cadence import Cadence
from stepscope.events.optimizers import closure_in
from stepscope.events.quiet import quietly
from stepscope.events.same_step import SameStep
from stepscope.events.unpatched_torch import raw
from stepscope.record.device_reads import Arrivals
from stepscope.record.gradient_norm import total_norm

__all__ = ["Beat", "Pulse"]

_ORDER = 40
_cpu = clocks.thread_time
_modes, _dispatch_modes = torch._C._len_torch_function_stack, torch._C._len_torch_dispatch_stack
_SCALERS = "torch.amp" if hasattr(torch.amp, "GradScaler") else "torch.cuda.amp"
_MOST_TERMS = 5
_TERM = "term "
_NOT_THE_SCRIPT = (os.path.dirname(torch.__file__) + os.sep, os.path.dirname(os.path.dirname(__file__)) + os.sep)
_scripts: dict[str, bool] = {}
"""By file, whether it is the script's."""
_lines: dict[tuple[int, int], tuple[Any, tuple[str, int]]] = {}
"""By instruction, its file and line, which take long to find; the code is kept so that no other takes its address."""
_MOST_TOGETHER = 4
"""Optimizers whose steps are thought to take turns."""


class Beat(msgspec.Struct, frozen=True, kw_only=True):
    """One step, or what one of several optimizers did in it: the first of them has the loss."""

    step: int
    time: float
    """Unix seconds, when the step was taken."""
    loss: float | None = None
    """The tensor `backward` was called on; the last one, where gradients are accumulated over several,
    unless they are known to add up."""
    grad_norm: float | None = None
    """Over all gradients of the optimizer, before clipping."""
    lr: float | None = None
    backwards: int = 0
    """How often backward ran since the step before."""
    optimizer: str = ""
    which: int = 0
    """Tells the optimizers of a GAN apart."""
    number: int | None = None
    """What the step is logged under, where that is not its own count."""
    continues: bool = False
    """Another optimizer has begun this step: the gradients are of the same backward."""
    terms: dict[str, float] = {}
    """The losses of a step that backward was called on in several places of the script, by where that was."""

    @property
    def bad_loss(self) -> bool:
        return self.loss is not None and not math.isfinite(self.loss)

    @property
    def bad_gradient(self) -> bool:
        return self.grad_norm is not None and not math.isfinite(self.grad_norm)

    @property
    def ok(self) -> bool:
        return not (self.bad_loss or self.bad_gradient)


class Pulse:
    """Watches every step between `start` and `stop` (or in a `with` block).

        with Pulse() as pulse:
            train()
        pulse.beats[-1].grad_norm

    `on_beat` is told of each beat; `on_bad_loss` of a loss that is not finite before its backward runs, with the tensor
    itself, so that its graph can still be looked at (on a CPU only: elsewhere asking would mean waiting). While
    `adds_losses()` holds, the loss of a step is the sum over its backwards: of parts that were divided beforehand.
    `identify(optimizer, is_made)` says which optimizer it is and what its step, which is about to be made or was made
    just now, is logged under.
    """

    def __init__(
        self,
        *,
        keep: int = 10_000,
        on_beat: Callable[[Beat], None] | None = None,
        on_bad_loss: Callable[[Any], None] | None = None,
        adds_losses: Callable[[], bool] = lambda: False,
        cadence: Cadence | None = None,
        identify: Callable[[Any, bool], tuple[int, int | None]] = lambda optimizer, is_made: (0, None),
    ) -> None:
        self.beats: deque[Beat] = deque(maxlen=keep)
        self.steps = 0
        self._on_beat = on_beat
        self._on_bad_loss = on_bad_loss
        self._adds_losses = adds_losses
        self._identify = identify
        self._installed = Installed(stays_in_parent=True)
        self._subscription: events.Subscription | None = None
        self._arrivals = Arrivals()
        self._on = False
        self._backwards = 0
        self._gradients = 0
        """How often gradients were computed, also by `autograd.grad`."""
        self._same_step = SameStep()
        self._loss: Any = None
        self._terms: dict[tuple[str, int], Any] = {}
        """The latest loss of each place that has called backward since the last step."""
        self._clipped: tuple[frozenset[int], Any] | None = None
        self._unscaled: tuple[weakref.ref[Any], Any] | None = None
        self._waiting: weakref.ref[Any] | None = None
        self._in_closure: set[tuple[str, int]] = set()
        """The places that the closure of the step under way has called backward in."""
        self.cadence = cadence or Cadence()
        self.on_loss: Callable[[float], None] | None = None
        """Told of every loss on a CPU before its backward, whatever the cadence."""
        self._is_bad = False
        """The loss of this step is not finite: its pulse is taken whatever the cadence."""

    @property
    def last(self) -> Beat | None:
        """The latest beat whose numbers have arrived."""
        return self.beats[-1] if self.beats else None

    def start(self) -> Pulse:
        self._on = True
        self._subscription = events.subscribe(
            "the pulse",
            order=_ORDER,
            backward_begins=self._backward_begins,
            step_begins=self._before_step,
            step_ends=self._after_step,
        )
        self._subscription.listen("backward_begins", "step_begins")  # and to the end once a step has a closure
        self._installed.wrap("torch.nn.utils.clip_grad:_get_total_norm", self._seeing_norms)
        self._installed.wrap(f"{_SCALERS}:GradScaler.scale", self._seeing_scaled)
        return self

    def stop(self) -> None:
        """Listen no more, and wait for the numbers still on their way."""
        self._on = False
        if self._subscription is not None:
            self._subscription.remove()
        self._installed.remove()
        self._loss = self._clipped = self._unscaled = None
        self._read(wait=True)

    @contextmanager
    def off(self) -> Iterator[None]:
        """For steps that are not the training's own."""
        on, self._on = self._on, False
        try:
            yield
        finally:
            self._on = on

    def __enter__(self) -> Pulse:
        return self.start()

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def _backward_begins(self, roots: Any, args: Any, kwargs: Any, frame: Any) -> None:
        self._gradients += self._on
        if not self._on or not kwargs.get("accumulate_grad", True):  # autograd.grad asks for more than a loss
            return
        loss = roots[0] if isinstance(roots, (list, tuple)) else roots
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            return
        self._backwards += 1
        place = _place_of(frame)
        if self._waiting is not None:
            if place in self._in_closure:  # called again: the loss of the step is the first
                first = self._loss
                self._loss = None
                self._note(loss)
                self._loss = first
                return
            self._in_closure.add(place)
        # Several times from one line: the step follows the gradient of their sum.
        if self._terms and not self._adds_losses():
            self._loss = self._terms.get(place)
        self._note(loss)
        self._terms[place] = self._loss

    def _note(self, loss: Any) -> None:
        alone = self._unscaled is None and not isinstance(self._loss, torch.Tensor)
        # On the CPU, by itself, and with nobody to see us: then nothing has to be switched off for one call into C.
        if alone and type(loss) is torch.Tensor and loss.is_cpu and not _modes() and not _dispatch_modes():
            value = raw.item(loss)
            self._loss = value if self._loss is None else self._loss + value
            if not math.isfinite(value):
                self._say_bad(loss)
            elif self.on_loss is not None:
                self.on_loss(value)
        else:
            self._note_elsewhere(loss)

    def _seeing_scaled(self, scale: Any) -> Any:
        """`scaler.scale(loss).backward()`: the loss people mean is the one before scaling."""
        pulse = self

        @wraps(scale)
        def scaled(scaler: Any, outputs: Any) -> Any:
            result = scale(scaler, outputs)
            if pulse._on and isinstance(outputs, torch.Tensor) and isinstance(result, torch.Tensor):
                with quietly():
                    pulse._unscaled = weakref.ref(result), raw.detach(outputs)
            return result

        return scaled

    def _note_elsewhere(self, loss: Any) -> None:
        """A loss on a device, scaled, summed up, or seen by modes of the script."""
        if is_capturing():
            self._loss = self._unscaled = None
            return
        with quietly():
            scaled, before = self._unscaled or (None, None)
            value: Any = before if scaled is not None and scaled() is loss else raw.detach(loss)
            self._loss = value if self._loss is None else self._loss + value
            self._unscaled = None
            number = raw.item(value) if loss.device.type == "cpu" else None
        if number is None:
            self.cadence.is_on_device = True
            return
        if not math.isfinite(number):
            self._say_bad(loss)
        elif self.on_loss is not None:
            self.on_loss(number)

    def _say_bad(self, loss: Any) -> None:
        self._is_bad = True
        if self._on_bad_loss is not None:
            self._on_bad_loss(loss)

    def _seeing_norms(self, measure: Any) -> Any:
        @wraps(measure)
        def total_norm(tensors: Any, norm_type: Any = 2.0, *args: Any, **kwargs: Any) -> Any:
            tensors = tensors if isinstance(tensors, (list, torch.Tensor)) else list(tensors)
            norm = measure(tensors, norm_type, *args, **kwargs)
            if self._on and float(norm_type) == 2.0 and isinstance(tensors, list):
                self._clipped = frozenset(map(id, tensors)), norm
            return norm

        return total_norm

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any, frame: Any) -> None:
        """With a closure (LBFGS, Lightning) the loss and its gradients are there when the step is over."""
        if (len(args) > 1 or kwargs) and closure_in(args, kwargs) is not None:
            self._waiting = weakref.ref(optimizer)
            self._in_closure.clear()
            if self._subscription is not None and "step_ends" not in self._subscription.listens_to:
                self._subscription.listen(*self._subscription.handlers)
        elif self._on:
            self._feel(optimizer)

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        waiting, self._waiting = self._waiting, None
        if self._on and waiting is not None and waiting() is optimizer:
            self._feel(optimizer, is_made=True)

    def _feel(self, optimizer: Any, is_made: bool = False) -> None:
        is_new = self._same_step.updated(optimizer, self._gradients)
        self.steps += is_new
        if self.cadence.is_due() or self._is_bad:
            began = _cpu()
            self._feel_in_full(optimizer, is_made, not is_new)
            self.cadence.took(_cpu() - began)
        else:
            self._forget_step()

    def _forget_step(self) -> None:
        self._backwards = 0
        self._loss = self._clipped = None
        self._terms.clear()

    def step_by_hand(self, number: int, loss: Any = None) -> None:
        """The script has changed its weights itself: the step has a loss, and no optimizer that could tell more.

        `loss` is what `autograd.grad` was asked of, where backward was not called.
        """
        if self._on:
            step = (self.steps, clocks.time(), self._backwards, "", 0, number, False)
            self._arrivals.send(step, {"loss": loss if self._loss is None else self._loss} | self._named_terms())
            self.steps += 1
            self._forget_step()
            self._read(wait=False)

    def _named_terms(self) -> dict[str, Any]:
        """Where backward was called in several places: what each was called on."""
        if len(self._terms) < 2 or self._adds_losses():
            return {}
        places = list(self._terms.items())[:_MOST_TERMS]
        return {f"{_TERM}{path}:{line}": value for (path, line), value in places}

    def _feel_in_full(self, optimizer: Any, is_made: bool, continues: bool) -> None:
        if self._arrivals.queue:
            self._read(wait=False)
        self._is_bad = False
        groups = optimizer.param_groups
        with quietly():
            gradients = [grad for group in groups for p in group["params"] if (grad := p.grad) is not None]
            norm = self._norm(gradients, getattr(optimizer, "grad_scale", None))
            numbers = {"loss": self._loss, "grad_norm": norm, "lr": groups[0].get("lr") if groups else None}
            numbers |= self._named_terms()
            which, number = self._identify(optimizer, is_made)
            if self.cadence.together <= which < _MOST_TOGETHER:
                self.cadence.together = which + 1
            name = type(optimizer).__name__
            step = (self.steps - 1, clocks.time(), self._backwards, name, which, number, continues)
            is_here = self._arrivals.send(step, numbers)
        self._forget_step()
        if is_here:
            self._read(wait=False)

    def _norm(self, gradients: list[Any], scale: Any) -> Any:
        """The clipping's norm if it was over the same gradients, else one pass over them."""
        if not gradients:
            return None
        if self._clipped is not None and self._clipped[0] == frozenset(map(id, gradients)):
            return raw.detach(self._clipped[1])
        norm = total_norm(gradients)
        return norm / scale if norm is not None and isinstance(scale, torch.Tensor) else norm

    def _read(self, wait: bool) -> None:
        for (step, at, backwards, name, which, number, continues), numbers in self._arrivals.receive(wait):
            terms = {key.removeprefix(_TERM): numbers.pop(key) for key in list(numbers) if key.startswith(_TERM)}
            known = {place: value for place, value in terms.items() if value is not None}
            beat = Beat(
                step=step,
                time=at,
                backwards=backwards,
                optimizer=name,
                which=which,
                number=number,
                continues=continues,
                terms=known,
                **numbers,
            )
            self.beats.append(beat)
            if self._on_beat is not None:
                fence.call("listening to the pulse", self._on_beat, beat)


def _place_of(frame: Any) -> tuple[str, int]:
    """The line that has called backward, below torch and us."""
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        is_scripts = _scripts.get(file)
        if is_scripts is None:
            is_scripts = _scripts[file] = not file.startswith(_NOT_THE_SCRIPT)
        if is_scripts:
            key = (id(code), frame.f_lasti)
            known = _lines.get(key)
            if known is None:
                known = _lines[key] = code, (file, frame.f_lineno)
            return known[1]
        frame = frame.f_back
    return "", 0
