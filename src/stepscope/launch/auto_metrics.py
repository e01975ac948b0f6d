"""What is logged of a script that logs nothing: loss, learning rate, gradient norm, update ratio, speed, memory.

Numbers of every step come from the pulse; times and speeds are averages over the last steps, logged now and then.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.common import clocks
from stepscope.launch.loop import Loop, Phase
from stepscope.launch.model_names import model_name, model_places, term_name

if TYPE_CHECKING:
    from torch.optim import Optimizer

    from stepscope.events.cadence import Cadence
    from stepscope.record.pulse import Beat, Pulse

SPEED_EVERY_S = 1.0
RATIO_EVERY, RATIO_RARELY = 25, 125
"""Odd, so that two optimizers that take turns are both looked at; rarely where steps are very short."""
_SHORT = 4
"""A stride of the pulse from which on steps are short."""
_SAMPLE = 1 << 16
_TENSORS = 16
_PREFIX = "train/"

Log = Callable[[Mapping[str, float], int], None]


class Logbook:
    """Writes a step's numbers as they come in. `log(values, step)` puts them into the run, if there is one."""

    def __init__(self, loop: Loop, log: Log, clock: Callable[[], float] = clocks.perf_counter) -> None:
        self.last: Beat | None = None
        self.first_loss: float | None = None
        self.lowest_loss: float | None = None
        self.rate = 0.0
        """Steps a second, of late."""
        self.waiting = 0.0
        """The share of the time that went into waiting for data, of late."""
        self.evaluations: list[dict[str, float]] = []
        self.losses: deque[float] = deque(maxlen=200)
        self.on_beat: list[Callable[[Beat], None]] = []
        self.on_bad_loss: list[Callable[[Any], None]] = []
        """Called with a loss that is not finite, before its backward (on a CPU)."""
        self._loop = loop
        self._log = fence.fenced("logging a step")(log)
        self._clock = clock
        self._mark = (clock(), 0, 0, dict(loop.phase_s))
        self._pulse: Pulse | None = None
        self._ratios: Any = None
        self._before: list[tuple[Any, Any]] = []
        self._named: dict[int, str] = {}
        self._loss_prefix: dict[int, str] = {}
        """Of each of several optimizers, once it is known whether its losses are of a step it shares with others."""
        self._undecided: list[tuple[int, int, dict[str, float]]] = []
        """Losses that wait for that: optimizer, step, values."""
        loop.on_step.append(self._after_step)
        loop.on_optimizer.append(self._name)
        loop.optimizers.model_of = model_places

    def start(self) -> None:
        """Feel the pulse too; without it only times and speeds are logged, and Stepscope runs no operation."""
        from stepscope.record.device_reads import Arrivals
        from stepscope.record.pulse import Pulse

        self._ratios = Arrivals()
        self._pulse = Pulse(
            keep=16,
            on_beat=self._beat,
            on_bad_loss=self._bad_loss,
            adds_losses=lambda: self._loop.losses_add_up,
            identify=self._loop.identify,
        ).start()
        self._loop.before_update = self._copy

    def _bad_loss(self, loss: Any) -> None:
        for listener in self.on_bad_loss:
            fence.call("looking at a bad loss", listener, loss)

    def stop(self) -> None:
        """Read what is still on its way from a device."""
        if self._pulse is not None:
            self._pulse.stop()
            self._receive(wait=True)
        self._decide()
        if self._loop.steps:
            self._log_speed()
        self._before = []

    @property
    def cadence(self) -> Cadence | None:
        """How often the pulse is taken in full."""
        return None if self._pulse is None else self._pulse.cadence

    def listen_to_losses(self, listener: Callable[[float], None]) -> None:
        """Pass it every loss on a CPU, before its backward."""
        if self._pulse is not None:
            self._pulse.on_loss = listener

    @contextmanager
    def silent(self) -> Iterator[None]:
        """For steps that are not the training's: no pulse is felt."""
        if self._pulse is None:
            yield
            return
        with self._pulse.off():
            yield

    # -- every step -----------------------------------------------------------------------------------------------

    def _beat(self, beat: Beat) -> None:
        if not beat.continues:
            self.last = beat
        for listener in self.on_beat:
            fence.call("following the pulse", listener, beat)
        which, number = beat.which, beat.step if beat.number is None else beat.number
        self._decide(beat, number)
        losses: dict[str, float | None] = {"loss": beat.loss}
        if beat.terms:  # several backwards: each by its name, none of them is the loss
            losses = {term_name(place): value for place, value in beat.terms.items()}
        values = self._named_losses(which, number, losses)
        numbers = {"grad_norm": beat.grad_norm, "lr": beat.lr}
        values |= {self._prefix(which) + name: value for name, value in numbers.items() if value is not None}
        if beat.loss is not None and which == 0:
            self.losses.append(beat.loss)
            if self.first_loss is None:
                self.first_loss = beat.loss
            if beat.loss == beat.loss:
                self.lowest_loss = beat.loss if self.lowest_loss is None else min(self.lowest_loss, beat.loss)
        if values:
            self._log(values, number)

    def _name(self, optimizer: Optimizer) -> None:
        """One of several optimizers is named for the model it trains, by the script's own variable."""
        name = model_name(optimizer)
        if name is None:
            return
        which, _ = self._loop.optimizers.number_of(optimizer)
        taken = {prefix for other, prefix in self._named.items() if other != which}
        number, prefix = 2, f"{_PREFIX}{name}/"
        while prefix in taken:
            number, prefix = number + 1, f"{_PREFIX}{name}{number}/"
        self._named[which] = prefix

    def _prefix(self, which: int) -> str:
        return self._named.get(which) or (_PREFIX if which == 0 else f"train{which + 1}/")

    def terms(self, which: int, number: int, values: Mapping[str, float | None]) -> None:
        """The terms of the loss of a step."""
        named = self._named_losses(which, number, values)
        if named:
            self._log(named, number)

    def _named_losses(self, which: int, number: int, values: Mapping[str, float | None]) -> dict[str, float]:
        """Losses under the name of their optimizer, or without one where optimizers step together; empty while that is
        not known."""
        known = {name: value for name, value in values.items() if value is not None}
        prefix = self._loss_prefix.get(which) or self._prefix(which)
        if known and prefix != _PREFIX and which not in self._loss_prefix:
            self._undecided.append((which, number, known))
            return {}
        return {prefix + name: value for name, value in known.items()}

    def _decide(self, beat: Beat | None = None, at: int | None = None) -> None:
        """The beat after the first loss of an optimizer tells whether another optimizer stepped in the same step."""
        if not self._undecided:
            return
        which, number, _ = self._undecided[0]
        if beat is not None and (beat.which, at) == (which, number):
            return
        is_shared = beat is not None and beat.continues and at == number
        self._loss_prefix[which] = _PREFIX if is_shared else self._prefix(which)
        waiting, self._undecided = self._undecided, []
        for one, step, values in waiting:
            self.terms(one, step, values)

    def step_by_hand(self, number: int, loss: Any) -> None:
        """The script has changed its weights itself."""
        if self._pulse is not None:
            self._pulse.step_by_hand(number, loss)

    def _copy(self, optimizer: Optimizer) -> None:
        """Now and then: a part of the weights before the step, to see how far the step moved them."""
        import torch

        from stepscope.events.aside import is_capturing
        from stepscope.events.quiet import quietly
        from stepscope.events.unpatched_torch import raw

        if is_capturing():
            return
        with quietly():
            some = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None][:_TENSORS]
            plain = [
                p for p in some if p.layout is torch.strided and p.is_contiguous() and type(p).__name__ != "DTensor"
            ]
            self._before = [(p, raw.clone(_some_of(p))) for p in plain]

    def _after_step(self, optimizer: Optimizer) -> None:
        loop, pulse = self._loop, self._pulse
        if self._before:
            before, self._before = self._before, []
            self._send_ratio(before)
        if pulse is not None:
            if self._ratios.queue:
                self._receive(wait=False)
            if loop.steps % (RATIO_EVERY if pulse.cadence.stride < _SHORT else RATIO_RARELY) == 0:
                loop.before_update = self._copy
        if loop.steps == 1:  # speeds are of the training, without what came before it
            self._set_mark()
        elif loop.mark - self._mark[0] >= SPEED_EVERY_S:
            self._log_speed()

    @fence.fenced("measuring updates")
    def _send_ratio(self, before: list[tuple[Any, Any]]) -> None:

        from stepscope.events.quiet import quietly
        from stepscope.events.unpatched_torch import raw
        from stepscope.record.gradient_norm import total_norm

        with quietly():
            old = [values for _, values in before]
            size, weights = total_norm(raw._foreach_sub([_some_of(p) for p, _ in before], old)), total_norm(old)
            if size is not None and weights is not None:
                ratio = size / weights.clamp_min(1e-12)
                self._ratios.send((self._loop.last_number, self._loop.last_optimizer), {"r": ratio})

    @fence.fenced("measuring updates")
    def _receive(self, wait: bool) -> None:
        if self._ratios is None:
            return
        for (step, which), numbers in self._ratios.receive(wait):
            if numbers.get("r") is not None:
                self._log({f"{self._prefix(which)}update_ratio": float(numbers["r"])}, step)

    def _set_mark(self) -> None:
        self._mark = (self._clock(), self._loop.steps, self._loop.samples, dict(self._loop.phase_s))

    # -- every second ---------------------------------------------------------------------------------------------

    @fence.fenced("measuring the speed")
    def _log_speed(self) -> None:
        loop, now = self._loop, self._clock()
        began, steps, samples, phases = self._mark
        passed, done = now - began, loop.steps - steps
        if not done or passed <= 0:
            return
        self._set_mark()
        spent: dict[Phase, float] = {name: loop.phase_s[name] - phases[name] for name in phases}
        self.rate = done / passed
        self.waiting = min(spent["data"] / passed, 1.0)
        values: dict[str, float] = {"speed/steps_per_s": self.rate, "speed/data_wait": self.waiting}
        if loop.samples > samples:
            values["speed/samples_per_s"] = (loop.samples - samples) / passed
        if not loop.phase_s["h2d"]:  # nothing was ever moved to a device
            del spent["h2d"]
        values |= {f"time/{name}_ms": 1000 * seconds / done for name, seconds in spent.items()}
        values |= memory()
        self._log(values, loop.last_number)

    def evaluated(self, values: dict[str, float]) -> None:
        """An evaluation is over, with these results."""
        self.evaluations.append(values)
        self._log(values, self._loop.last_number)

    # -- in words -------------------------------------------------------------------------------------------------

    def status(self, findings: str) -> str:
        """One line about now."""
        parts = [f"step {self._loop.steps}"]
        if self.last is not None and self.last.loss is not None:
            parts.append(f"loss {self.last.loss:.4g}")
        if self.rate:
            parts.append(f"{self.rate:.3g} it/s" if self.rate >= 0.1 else f"{1 / self.rate:.3g} s/it")
        if self.waiting >= 0.01:
            parts.append(f"{self.waiting:.0%} waiting for data")
        if findings:
            parts.append(findings)
        return "stepscope  " + " · ".join(parts)

    def overfit_verdict(self, batches: int) -> str:
        """Did the loss on a few batches go to its floor?"""
        what = "the one batch" if batches == 1 else f"the {batches} batches"
        if self.first_loss is None or not self.losses:
            return f"--overfit-batches: no loss was seen, so there is no verdict on {what}"
        last = sum(list(self.losses)[-5:]) / len(list(self.losses)[-5:])
        course = f"{self.first_loss:.4g} -> {last:.4g} in {self._loop.steps} steps"
        if self._loop.steps < 20 and last > 0.05 * self.first_loss:
            return f"--overfit-batches: too few steps to tell (loss {course}); train for more epochs"
        if last != last:
            return f"--overfit-batches: the loss became NaN ({course})"
        if self.first_loss > 0 and last <= 0.05 * self.first_loss:
            return f"--overfit-batches: the model can overfit {what}: loss {course}"
        if last < 0.7 * self.first_loss:
            return f"--overfit-batches: the loss on {what} is still falling ({course}); train for more epochs"
        return (
            f"--overfit-batches: the loss on {what} did not reach its minimum: {course}; a model that cannot overfit "
            "them has a bug, a learning rate that is too small, or a loss whose minimum is not near zero"
        )


def _some_of(parameter: Any) -> Any:
    """Its first values, in a row; a view."""
    from stepscope.events.unpatched_torch import raw

    flat = raw.detach(parameter).view(-1)
    return flat if flat.numel() <= _SAMPLE else flat[:_SAMPLE]


def is_sharded(parameter: Any) -> bool:
    """A DTensor: looking at its values would mean talking to the other ranks."""
    return hasattr(parameter, "_local_tensor")


def memory() -> dict[str, float]:
    """What the process and its devices hold; asks no device to finish anything."""
    values: dict[str, float] = {}
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        values["memory/gpu_bytes"] = float(torch.cuda.memory_allocated())
        values["memory/gpu_peak_bytes"] = float(torch.cuda.max_memory_allocated())
    import psutil

    values["memory/process_bytes"] = float(psutil.Process().memory_info().rss)
    return values
