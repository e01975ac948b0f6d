"""What advice must know of the process: loaders, optimizers, models, switches, hardware, and what single lines do.

    facts = Facts()
    facts.install(torch)                   # when the script has imported torch
    facts.install_loaders(dataloader)      # when torch.utils.data.dataloader is there
    ...                                    # the script trains; steps are found by the optimizers' own hooks
    facts.looking                          # True while every torch call of a step is watched: no torch window then
    facts.result()                         # plain data for `rank0.facts.json`; asked once, at the end
    facts.remove()

All but three steps pay only for a clock reading at the loader and at the optimizer. In three steps after the first
few, each call is followed with its line. Nothing waits for a device, draws a random number or keeps a tensor; faults
stay behind the fence. Compiled models are not looked into: following them would have them compiled again.
"""

from __future__ import annotations

import threading
import weakref
from functools import wraps
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from stepscope import events, fence
from stepscope.profile.collect.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.optim import Optimizer

    from stepscope.profile.collect.facts_loaders import LoaderFacts
    from stepscope.profile.collect.facts_look import Look

FACTS_FORMAT = 1
_KEPT = 1000
_SLOW_NS, _ENDLESS_NS = 500_000_000, 5_000_000_000
"""Of steps with this much work of this thread, or this long, one is looked at, and at once: who profiles them does not
wait for many. Work is CPU time, so that a busy machine does not decide what is looked at."""
_WHO = "gathering facts for the advice"
_CLOCK = 80
"""How close to the step its clock stands: only the clock of the training loop is closer."""


class Facts:
    """Gathers; see the module's docstring for how to use it."""

    def __init__(self, look_after: int = 3, look_steps: int = 3, clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.look_after = look_after
        self.look_steps = look_steps
        self.steps = 0
        self.loaders: LoaderFacts | None = None
        self.look: Look | None = None
        self._torch: Any = None
        self._installed = events.Installed(stays_in_parent=True)
        self._thread = threading.get_ident()
        self._optimizers: dict[int, dict[str, Any]] = {}
        self._walls: list[tuple[int, int, int, int, int]] = []
        """(wall, waiting for data, optimizer, zero_grad, CPU time) of steps that Stepscope has not slowed down."""
        self._memory: list[dict[str, Any]] = []
        self._made_at: weakref.WeakKeyDictionary[Any, tuple[str, int] | None] = weakref.WeakKeyDictionary()
        self._flags: dict[str, Any] = {}
        self._zero_grads: dict[tuple[str, int, bool], int] = {}
        self._mark = self._wall = 0
        self._worked = self._work = 0
        """CPU time of this thread, as a step began and as it took."""
        self._step_began = 0
        self._waited = 0
        self._zeroed = 0
        self._has_closure = False
        self._spoiled = True
        self._others: Callable[[], float] | None = None
        self._next_memory = 5

    # -- to be called by the collector ----------------------------------------------------------------------------

    @property
    def looking(self) -> bool:
        return self.look is not None and self.look.on

    @property
    def looked(self) -> bool:
        """The look is over, or will not come."""
        return self.look is not None and self.look.over

    @fence.fenced(_WHO)
    def install(self, torch: ModuleType) -> None:
        from stepscope.events.warning_places import place_warnings
        from stepscope.profile.collect.facts_look import Look

        self._torch = torch
        self.look = Look(self.clock)
        place_warnings(self._installed)
        self._subscribe(step_begins=self._step_begins, step_ends=self._step_ends)
        self._installed.after("torch.optim:Optimizer.__init__", _WHO, self._optimizer_made)
        self._installed.wrap("torch.optim:Optimizer.zero_grad", self._timed_zero_grad)
        self._installed.wrap("torch.nn:Module.zero_grad", self._timed_zero_grad)

    def _subscribe(self, **handlers: Any) -> None:
        subscription = events.subscribe(_WHO, thread=self._thread, order=_CLOCK, **handlers)
        self._installed.add(subscription.remove)

    @fence.fenced(_WHO)
    def install_loaders(self, module: Any) -> None:
        from stepscope.profile.collect.facts_loaders import LoaderFacts

        self.loaders = LoaderFacts(self)
        self.loaders.install(self._installed)

    def remove(self) -> None:
        if self.look is not None:
            fence.fenced("ending the look")(self.look.stop)()
        if self.loaders is not None:
            fence.fenced("ending the look")(self.loaders.stop_peeking)()
        self._installed.remove()

    def result(self) -> dict[str, Any]:
        """Everything, as plain data. Empty when torch never came."""
        found: dict[str, Any] | None = fence.fenced("writing down facts for the advice")(self._result)()
        return found or {}

    # -- stations -------------------------------------------------------------------------------------------------

    def waited(self, nanoseconds: int) -> None:
        """A batch was waited for."""
        self._waited += nanoseconds

    def spoil(self) -> None:
        """This step was slowed down by ours: it does not count."""
        self._spoiled = True

    def _step_begins(
        self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType
    ) -> None:
        self._step_began = self.clock.wall_ns()
        # With a closure, forward and backward run inside the step. The first of `args` is the optimizer itself.
        self._has_closure = callable(kwargs.get("closure", args[1] if len(args) > 1 else None))
        if self.look is not None:
            self.look.paused = 1

    def _step_ends(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        now = self.clock.wall_ns()
        look = self.look
        if look is not None:
            look.paused = 0
        self.steps += 1
        if look is not None and look.on:
            look.step_over()
            self._spoiled = True
        if self._torch.autograd.profiler.__dict__.get("_is_profiler_enabled"):
            self._spoiled = True
        self._note_times(now)
        if id(optimizer) not in self._optimizers:
            from stepscope.profile.collect.facts_process import describe_optimizer

            with events.quietly():
                self._optimizers[id(optimizer)] = describe_optimizer(optimizer, self._made_at.get(optimizer))
        if self.loaders is not None:
            self.loaders.stepped()
        if look is not None:
            self._look_on(look)
        if self._others is None:
            self._others = fence.fenced(_WHO)(self.clock.others)()
        if self.steps == self._next_memory:
            self._next_memory *= 2
            self._note_memory()
        self._spoiled = look is not None and look.on
        self._waited = self._zeroed = 0
        self._mark, self._worked = self.clock.wall_ns(), self.clock.work_ns()

    def _note_times(self, now: int) -> None:
        """The time and the work since the last step ended; nothing at the first."""
        if not self._mark:
            self._wall = self._work = 0
            return
        self._wall, self._work = now - self._mark, self.clock.work_ns() - self._worked
        if not self._spoiled and len(self._walls) < _KEPT:
            updating = 0 if self._has_closure else now - self._step_began
            self._walls.append((self._wall, self._waited, updating, self._zeroed, self._work))

    def _look_on(self, look: Look) -> None:
        """Begin or end the look, between two steps."""
        slow = self._work > _SLOW_NS or self._wall > _ENDLESS_NS
        if look.is_shut_out:
            look.give_up("the model is compiled")
        elif look.on and (look.steps >= self.look_steps or slow):
            look.stop()
        elif not look.on and not look.over and (self.steps >= self.look_after or slow):
            from stepscope.profile.collect.facts_process import flags, is_compiled

            self._flags = flags(self._torch)
            if self._torch.autograd.profiler.__dict__.get("_is_profiler_enabled"):
                return  # the script's own profiler: later
            if is_compiled():
                look.give_up("the model is compiled")
            else:
                look.start()

    def _note_memory(self) -> None:
        from stepscope.profile.collect.facts_process import graphs_made, memory_now

        device, host = memory_now(self._torch)
        graphs = graphs_made()
        self._memory.append({"step": self.steps, "device_bytes": device, "host_bytes": host, "graphs": graphs})

    def _timed_zero_grad(self, plain: Any) -> Any:
        @wraps(plain)
        def zero_grad(owner: Any, *args: Any, **kwargs: Any) -> Any:
            began = self.clock.wall_ns()
            result = plain(owner, *args, **kwargs)
            self._zeroed += self.clock.wall_ns() - began
            if self.looking:
                to_none = kwargs.get("set_to_none", args[0] if args else True)
                fence.call(_WHO, self._note_zero_grad, bool(to_none), events.caller())
            return result

        return zero_grad

    def _optimizer_made(self, frame: FrameType, made: None, optimizer: Optimizer, *args: Any, **kwargs: Any) -> None:
        from stepscope.profile.collect.facts_look import file_line

        self._made_at[optimizer] = file_line(frame)

    def _note_zero_grad(self, to_none: bool, frame: FrameType) -> None:
        from stepscope.profile.collect.facts_look import file_line

        place = file_line(frame) or ("", 0)
        key = (*place, to_none)
        self._zero_grads[key] = self._zero_grads.get(key, 0) + 1

    # -- the end --------------------------------------------------------------------------------------------------

    def _result(self) -> dict[str, Any]:
        from stepscope.profile.collect import facts_process as process

        torch, look = self._torch, self.look
        if torch is None or look is None:
            return {}
        look.stop()
        self._note_memory()
        return {
            "format": FACTS_FORMAT,
            "torch": str(torch.__version__),
            "steps": process.step_figures(self.steps, self._walls),
            "device": process.device(torch),
            "cpu": {**process.cpu(torch), "others": 0.0 if self._others is None else round(self._others(), 2)},
            "flags": self._flags or process.flags(torch),
            "environment": process.environment(),
            "optimizers": list(self._optimizers.values()),
            "zero_grads": [
                {"file": file, "line": line, "set_to_none": to_none, "calls": calls}
                for (file, line, to_none), calls in self._zero_grads.items()
            ],
            "loaders": [] if self.loaders is None else self.loaders.result(),
            "compile": process.compile_counts(),
            "memory": self._memory,
            **look.result(),
        }
