"""The recorder: everything that runs between `start` and `stop` on this thread becomes a `StepRecord`."""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import torch
import torch.overrides

from stepscope import fence
from stepscope.errors import UsageError
from stepscope.record import transforms
from stepscope.record.autograd import Nodes, is_custom
from stepscope.record.backward import Backward
from stepscope.record.build import build_record
from stepscope.record.compiled import run_eagerly
from stepscope.record.drafts import CallDraft, Drafts, OpDraft, Ref
from stepscope.record.functions import FunctionMode
from stepscope.record.identity import Entry, Tensors
from stepscope.record.modules import ModuleHooks
from stepscope.record.observer import Observer, OpCall
from stepscope.record.optimizers import OptimizerHooks
from stepscope.record.phases import Phases
from stepscope.record.restore import Installed
from stepscope.record.sites import place_of
from stepscope.records.step import Phase, StepRecord

__all__ = ["Depth", "Recorder"]

Depth = Literal["ops", "modules", "aten"]
_DEPTHS = ("ops", "modules", "aten")
_mode_stack: Callable[[], list[Any]] = torch.overrides.__dict__["_get_current_function_mode_stack"]
_running: weakref.WeakSet[Recorder] = weakref.WeakSet()


class Recorder:
    """Records one step.

    >>> recorder = Recorder(model)
    >>> with recorder:
    ...     model(x).sum().backward()
    >>> recorder.record.ops[0].name
    'linear'
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
        self.record: StepRecord | None = None
        self.observers = tuple(observers)
        self.off = True
        self._model = model

    def watchers(self, method: str) -> list[Callable[..., None]]:
        """The observers' methods of this name, those that say something, each fenced."""
        found = [
            getattr(o, method) for o in self.observers if getattr(type(o), method) is not getattr(Observer, method)
        ]
        return [fence.fenced(f"an observer ({method})")(bound) for bound in found]

    def start(self) -> None:
        """Begin to record; everything installed here is taken away by `stop`."""
        if not self.off:
            raise UsageError("this recorder is already recording; make a new one for a step inside a step")
        self.installed = Installed()
        self.drafts = Drafts()
        self.tensors = Tensors()
        self.phases = Phases()
        self.nodes = Nodes()
        self.threads = {threading.get_ident()}
        self.modules = ModuleHooks(self, self._model)
        self.optimizers = OptimizerHooks(self)
        self.engine = Backward(self)
        self.mode = self._mode()
        try:
            run_eagerly(self.installed)
            self.modules.install()
            self.optimizers.install()
            self.engine.install()
            transforms.install(self)
            for watch in self.watchers("start"):
                watch(self.drafts)
            _running.add(self)
            self.off = False
            self.started = time.time()
            self._clock = time.perf_counter()
            if self.mode is not None:
                self.mode.__enter__()
        except BaseException:
            self.off = True
            self.installed.remove()
            raise

    def stop(self, error: BaseException | None = None) -> None:
        """Take everything away and build the record. The exception, if any, stays the caller's."""
        wall_us = (time.perf_counter() - self._clock) * 1e6
        if self.mode is not None:
            self.mode.__exit__(None, None, None)
        self.off = True
        _running.discard(self)
        said = None if error is None else f"{type(error).__name__}: {error}"
        self._close(said)
        self.installed.remove()
        for watch in self.watchers("finish"):
            watch(self.drafts)
        self._build(wall_us, said)
        self.tensors.forget()

    def __enter__(self) -> Recorder:
        self.start()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.stop(error)

    @fence.fenced("closing the recording")
    def _close(self, error: str | None) -> None:
        self.modules.close_all(error)

    @fence.fenced("building the record of the step")
    def _build(self, wall_us: float, error: str | None) -> None:
        self.record = StepRecord(depth=self.depth, error=error)  # what is left if building fails
        self.record = build_record(self, wall_us, error)

    def _mode(self) -> Any:
        if self.depth == "modules":
            return None
        if self.depth == "aten":
            from stepscope.record.aten import DispatchMode

            return DispatchMode(self)
        return FunctionMode(self)

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

    @contextmanager
    def function_mode_on(self) -> Iterator[None]:
        """See torch functions again inside a function that is itself an op (the backward engine)."""
        mode = self.mode
        if not isinstance(mode, FunctionMode) or mode in _mode_stack():
            yield
        else:
            with mode:
                yield

    def new_draft(self, name: str, phase: Phase) -> OpDraft:
        return self.keep(OpDraft(-1, name, phase, self.innermost()))

    def keep(self, draft: OpDraft) -> OpDraft:
        draft.index = len(self.drafts.ops)
        self.drafts.ops.append(draft)
        return draft

    def refs(self, tensors: list[Any]) -> list[Ref]:
        """The tensors by number and version; those not seen before come from outside."""
        found = []
        for tensor in tensors:
            self.adopt(tensor)
            entry, version = self.tensors.read(tensor)
            found.append((entry.number, version))
        return found

    def read_inputs(self, draft: OpDraft, inputs: list[Any]) -> list[Entry]:
        entries = []
        kind = "state" if draft.phase == "optimizer" else "input"
        for tensor in inputs:
            if tensor.grad_fn is not None:
                self.adopt(tensor)
            entry, version = self.tensors.read(tensor, kind)
            entries.append(entry)
            draft.inputs.append((entry.number, version))
        return entries

    def adopt(self, tensor: Any) -> None:
        """Explain a tensor that has a history the recording did not see: custom functions, scripted code."""
        node = tensor.grad_fn
        if node is None or self.depth == "aten":
            return
        entry = self.tensors.known(tensor)
        if entry is not None and not is_custom(type(node)):
            return
        since = self.nodes.first
        if node._sequence_nr() < since or self.nodes.knows(node):
            return
        version = self.tensors.version(tensor)
        maker = None if entry is None else self.tensors.made.get((entry.number, version))
        if entry is None or maker is None:
            maker = self._unseen_op(tensor, node, version, entry)
        entry = self.tensors.known(tensor)
        if entry is not None:
            self.nodes.claim(maker, [tensor], [entry.number], since)

    def _unseen_op(self, tensor: Any, node: Any, version: int, entry: Entry | None) -> OpDraft:
        custom = is_custom(type(node))
        name = node.name().removesuffix("Backward") if custom else f"unseen:{node.name()}"
        draft = self.new_draft(name, self.phases.now)
        if not custom and self.depth == "ops":
            self.drafts.not_seen("the code that made a tensor (scripted, or called from C++)", node.name())
        numbers, leaves = self.nodes.sources(node)
        draft.inputs = [*self.tensors.latest(numbers), *self.refs(leaves)]
        entry = entry or self.tensors.create(tensor, "intermediate", [], version)
        draft.outputs.append((entry.number, version))
        self.tensors.write(entry, version, draft)
        return draft

    def changed_inputs(self, inputs: list[Any], entries: list[Entry], draft: OpDraft) -> list[int]:
        """Which inputs the op has written: their version moved on."""
        changed = []
        version = self.tensors.version
        for place, (tensor, entry) in enumerate(zip(inputs, entries, strict=True)):
            if version(tensor) != draft.inputs[place][1] and entry.version == draft.inputs[place][1]:
                changed.append(place)
        return changed

    def write_outputs(
        self, call: OpCall, outputs: list[Any], changed: list[int], entries: list[Entry], since: int
    ) -> None:
        draft = call.draft
        tensors = self.tensors
        kind = "intermediate" if entries else "constant"
        for tensor in outputs:
            entry = tensors.known(tensor)
            if entry is not None and draft.name.endswith("_") and tensor.is_inference():
                tensors.written(tensor)
                draft.inplace = True
            version = tensors.version(tensor)
            if entry is None:
                entry = tensors.create(tensor, kind, entries, version)
                entry.draft.site = draft.site
                draft.view = draft.view or entry.draft.view_of is not None
                tensors.write(entry, version, draft)
            elif version != entry.version:
                draft.inplace = True
                tensors.write(entry, version, draft)
            draft.outputs.append((entry.number, version))
        call.outputs = list(outputs)
        for place in changed:
            draft.inplace = True
            entry, tensor = entries[place], call.inputs[place]
            version = tensors.version(tensor)
            tensors.write(entry, version, draft)
            if (entry.number, version) not in draft.outputs:
                draft.outputs.append((entry.number, version))
                call.outputs.append(tensor)
        if self.nodes.counter() != since:
            numbers = [number for number, _ in draft.outputs]
            call.nodes = self.nodes.claim(draft, call.outputs, numbers, since)

    def whole_module(self, call: CallDraft, inputs: list[Any], outputs: list[Any]) -> None:
        """Record a module's call as one op: at depth "modules", and where its inside cannot be seen."""
        draft = self.keep(OpDraft(-1, call.module.type, self.phases.now, call))
        draft.site = place_of(sys._getframe(1))
        entries = []
        for tensor in inputs:
            entry, version = self.tensors.read(tensor)
            entries.append(entry)
            draft.inputs.append((entry.number, version))
        op = OpCall(draft, call.module.type, (), {})
        op.inputs = inputs
        self.write_outputs(op, outputs, self.changed_inputs(inputs, entries, draft), entries, call.sequence)


def _stop_in_child() -> None:
    for recorder in list(_running):
        recorder.off = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_stop_in_child)
