"""The recorder: everything that runs between `start` and `stop` on this thread becomes a `StepRecord`."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Literal

import torch

from stepscope import fence
from stepscope.common import clocks
from stepscope.errors import UsageError
from stepscope.events import Installed, aside, follow, on_fork
from stepscope.events.compiled import run_eagerly
from stepscope.events.warning_places import place_warnings
from stepscope.record import transforms
from stepscope.record.autograd import Nodes
from stepscope.record.backward import Backward
from stepscope.record.build import Described, build_record, describe
from stepscope.record.collector import Rested, rest_collector
from stepscope.record.identity import Tensors
from stepscope.record.modules import ModuleHooks
from stepscope.record.op_dataflow import Flow
from stepscope.record.op_observer import Observer, tell
from stepscope.record.optimizers import OptimizerHooks
from stepscope.record.phases import Phases
from stepscope.record.replay import Replay
from stepscope.record.step_builder import CallDraft, Drafts, OpDraft
from stepscope.record.tape import Tape
from stepscope.record.tape_others import EngineTape, ModuleTape, OptimizerTape
from stepscope.record.torch_functions import Functions
from stepscope.record.value_tape import ValueTape
from stepscope.records.step import Phase, StepRecord

Depth = Literal["ops", "modules", "aten"]
_DEPTHS = ("ops", "modules", "aten")
_LIVE = ("before", "returned", "after", "module_before", "module_after", "backward_before", "backward_after")
_running: weakref.WeakSet[Recorder] = weakref.WeakSet()


class Recorder:
    """Records one step.

    recorder = Recorder(model)
    with recorder:
        model(x).sum().backward()
    recorder.record.ops[0].name  # 'linear'
    """

    def __init__(
        self,
        model: Any = None,
        *,
        depth: Depth = "ops",
        backward: bool = True,
        observers: Iterable[Observer] = (),
    ) -> None:
        if depth not in _DEPTHS:
            raise UsageError(f"depth is {depth!r}; it can be 'ops', 'modules' or 'aten'")
        if model is not None and not isinstance(model, torch.nn.Module):
            raise UsageError(
                f"record() was given a {type(model).__name__}; give it a torch.nn.Module, or nothing to record any code"
            )
        self.depth: Depth = depth
        self.backward = backward
        self.functions: Functions | Tape | None = None
        self.tape: Tape | None = None
        self._others: Any = None
        self._record: StepRecord | None = None
        self._described: Described | None = None
        self.observers = tuple(observers)
        self.timed = any(observer.wants_clock for observer in self.observers)
        self.off = True
        self._model = model

    def watchers(self, method: str) -> list[Callable[..., None]]:
        """The observers' methods of this name, those that say something; `tell` calls them."""
        return [getattr(observer, method) for observer in self.observers if observer.hears(method)]

    def start(self) -> None:
        """Begin to record; everything installed here is taken away by `stop`."""
        if not self.off:
            raise UsageError("this recorder is already recording; make a new one for a step inside a step")
        self.installed = Installed()
        self.tensors = Tensors()
        self.drafts = Drafts(self.tensors)
        self.phases = Phases()
        self.nodes = Nodes()
        self.thread = threading.get_ident()
        self.threads = {self.thread}
        self.modules = ModuleHooks(self, self._model)
        self.optimizers = OptimizerHooks(self)
        try:
            self.installed.add(rest_collector())
            run_eagerly(self.installed)
            place_warnings(self.installed)
            self._aside = aside.noted.copy()
            tell(self.watchers("start"), self.drafts)
            self._listen()
            transforms.install(self)
            _running.add(self)
            self.off = False
            self.started = clocks.time()
            self._clock = clocks.perf_counter()
            self._unfollow = self._follow()
        except BaseException:
            self.off = True
            self.installed.remove()
            raise

    def stop(self, error: BaseException | None = None) -> None:
        """Take everything away and build the record. The exception, if any, stays the caller's."""
        wall_us = (clocks.perf_counter() - self._clock) * 1e6
        self._unfollow()
        self.off = True
        _running.discard(self)
        self._wall_us = wall_us
        self._error = None if error is None else f"{type(error).__name__}: {error}"
        self.installed.remove()
        for why in aside.noted - self._aside:
            self.drafts.not_seen("what ran while recording would have been seen itself", why)
        tell(self.watchers("finish"), self.drafts)
        self._finish()
        if self.tape is None:
            self._close()
            self.tensors.forget()
        else:
            self.tape.let_go()
        self._loosen()
        self.functions = self._others = None
        del self._unfollow

    def __enter__(self) -> Recorder:
        self.start()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.stop(error)

    @fence.fenced("closing the recording")
    def _close(self) -> None:
        self.modules.close_all(self._error)

    @fence.fenced("describing the model")
    def _finish(self) -> None:
        self._described = Described("", ())  # what is left if describing fails
        self._described = describe(self)
        self._model = self.modules.model = None

    @property
    def record(self) -> StepRecord | None:
        """The record, once the recording is over. Put together when first asked for, so that the step does not wait."""
        if self._record is None and self._described is not None:
            self._build(self._described)
        return self._record

    def _build(self, described: Described) -> None:
        with Rested():
            self._put_together(described)

    @fence.fenced("building the record of the step")
    def _put_together(self, described: Described) -> None:
        self._record = StepRecord(depth=self.depth, error=self._error)  # what is left if building fails
        if self.tape is not None:
            Replay(self, self.tape).run()
            self._close()
            self.tape = None
        tell(self.watchers("build"), self.drafts)
        self._record = build_record(self, described, self._wall_us, self._error)
        self._described = None
        # All these know the recorder; without them its many small objects go when it goes and wait for no collector.
        del self.flow, self.modules, self.optimizers, self.engine, self.nodes, self.drafts, self.tensors

    def _listen(self) -> None:
        """Nobody looks at values while the step runs: a tape is enough, and the step need not wait for the rest."""
        if self.depth == "ops" and not any(observer.hears(one) for one in _LIVE for observer in self.observers):
            values = any(observer.wants_values for observer in self.observers)
            self.tape = ValueTape(self) if values else Tape(self)
            self._others = (ModuleTape(self, self.tape), EngineTape(self, self.tape), OptimizerTape(self, self.tape))
        else:
            self.flow = Flow(self)
            self.engine = Backward(self)
            self.modules.install()
            self.optimizers.install()
            self.engine.install()

    def _loosen(self) -> None:
        """Many recordings are never read. With nothing that leads back to the recorder, all of it goes when it goes;
        else thousands of small objects would wait for the garbage collector."""
        parts: list[Any] = [self.modules, self.optimizers]
        if self.tape is None:
            parts += (self.flow, self.engine)
        for part in parts:
            part._recorder = weakref.proxy(self)

    def _follow(self) -> Callable[[], None]:
        if self.depth == "modules":
            return lambda: None
        if self.depth == "aten":
            from stepscope.events.dispatch import follow_operators
            from stepscope.record.aten import Operators

            return follow_operators(Operators(self))
        self.functions = self.tape or Functions(self)
        return follow(self.functions)

    # While it runs

    def listens(self) -> bool:
        """Whether what happens on this thread belongs to the recording."""
        if self.off:
            return False
        if threading.get_ident() in self.threads:
            return True
        self.drafts.not_seen("another thread", threading.current_thread().name)
        return False

    def sequence(self) -> int:
        return self.nodes.counter()

    def innermost(self) -> CallDraft | None:
        stack = self.modules.stack
        return stack[-1] if stack else None

    def new_draft(self, name: str, phase: Phase) -> OpDraft:
        return self.keep(OpDraft(name, phase, self.innermost()))

    def keep(self, draft: OpDraft) -> OpDraft:
        draft.index = len(self.drafts.ops)
        self.drafts.ops.append(draft)
        return draft


def _stop_in_child() -> None:
    for recorder in list(_running):
        recorder.off = True
        if recorder.functions is not None:
            recorder.functions.paused = 1


on_fork(_stop_in_child)
