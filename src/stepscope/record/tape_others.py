"""What else goes onto the tape: calls of modules, runs of autograd's engine, steps of optimizers."""

from __future__ import annotations

from functools import partial
from threading import get_ident
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import torch

from stepscope import fence
from stepscope.events import subscribe
from stepscope.events.modules import runs_fused
from stepscope.events.nodes import follow_nodes
from stepscope.events.optimizers import closure_in
from stepscope.record.arguments import tensors_in
from stepscope.record.autograd import is_custom
from stepscope.record.modules import said
from stepscope.record.sites import place_of
from stepscope.record.tape import compiled
from stepscope.record.tape_python import (
    ENGINE,
    ENGINE_END,
    LEAVE,
    MODULE,
    NODE,
    NODE_END,
    STEP,
    STEP_END,
    version_of,
)  # fmt: skip
from stepscope.record.value_tape import ValueTape

if TYPE_CHECKING:
    from stepscope.events.modules import ModuleCall
    from stepscope.record.past_tensors import GhostNode
    from stepscope.record.recorder import Recorder
    from stepscope.record.tape import Tape

_disabled = torch._C.DisableTorchFunction


class ModuleTape:
    """Notes each call of a module."""

    def __init__(self, recorder: Recorder, tape: Tape) -> None:
        self._recorder, self._tape = recorder, tape
        self._stack: list[tuple[int, bool, Any]] = []
        """Where in the tape each running call began, whether torch's own code runs in it, and who called that."""
        subscription = subscribe("recording a module", module_begins=self._begins, module_ends=self._ends)
        recorder.installed.add(subscription.remove)

    def _begins(self, called: ModuleCall) -> None:
        recorder, tape, stack = self._recorder, self._tape, self._stack
        if recorder.off or (get_ident() != recorder.thread and not recorder.listens()):
            return
        entry = recorder.modules.entry_for(called.module, not stack)
        place = None
        if entry.of_torch or entry.may_close:
            place = stack[-1][2] if stack and stack[-1][1] else place_of(called.frame)
        with _disabled():
            closed = entry.may_close and runs_fused(called.module)
            tensors = _tensors(called.args) if not called.kwargs else tensors_in((called.args, called.kwargs))
            at = tape.note((MODULE, entry, entry.root, place, closed, tape.counter(), 0, len(tensors)), tensors)
        stack.append((at, entry.of_torch, place))
        tape.is_placed = entry.of_torch and place is not None
        called.notes[id(self)] = at  # type: ignore[index]
        if tape.timed:
            tape.events[at + 6] = perf_counter_ns()

    def _ends(self, called: ModuleCall) -> None:
        now = perf_counter_ns()
        tape, stack = self._tape, self._stack
        at = called.notes.get(id(self))  # type: ignore[call-overload]
        if at is None or not self._recorder.listens():
            return
        while stack and stack.pop()[0] != at:
            pass
        tape.is_placed = bool(stack) and stack[-1][1] and stack[-1][2] is not None
        with _disabled():
            outputs = [called.result] if type(called.result) is torch.Tensor else tensors_in(called.result)
            inputs = tensors_in((called.args, called.kwargs)) if tape.events[at + 4] else []
            error = None if called.error is None else said(called.error)
            tape.note((LEAVE, at, error, now, tape.counter(), len(inputs), len(outputs)), inputs + outputs)


def _tensors(args: Any) -> list[Any]:
    """Most modules are called with one tensor."""
    return [args[0]] if len(args) == 1 and type(args[0]) is torch.Tensor else tensors_in(args)


class EngineTape:
    """Notes each run of the engine and each node in it; an `events.nodes.NodeFollower`."""

    who = "recording the backward pass"

    def __init__(self, recorder: Recorder, tape: Tape) -> None:
        self._recorder, self._tape = recorder, tape
        self._values = tape if isinstance(tape, ValueTape) else None
        recorder.installed.add(follow_nodes(self))

    def listens(self) -> bool:
        return self._recorder.listens()

    def engine_begins(self, roots: Any) -> bool:
        tape = self._tape
        with _disabled():
            tensors = [root for root in roots if isinstance(root, torch.Tensor)]
            self._at = tape.note((ENGINE, None, tape.counter(), len(tensors)), tensors) + 1
        return self._recorder.backward

    def meet(self, node: Any) -> GhostNode:
        ghost = self._tape.node(node)
        if ghost.variable is not None:
            ghost.early = bool(getattr(node.variable, "_post_accumulate_grad_hooks", None))
        else:
            ghost.early = not ghost.seen or is_custom(type(node))
        return ghost

    def met(self, nodes: list[Any], known: dict[int, GhostNode]) -> list[bool]:
        packed = self._tape.packed
        ghosts = [known[id(node)] for node in nodes]
        early = [packed or ghost.early for ghost in ghosts]
        self._tape.events[self._at] = (ghosts, early)
        return early

    def engine_runs(self) -> None:
        self._tape.left = perf_counter_ns()

    def engine_ends(self) -> None:
        self._tape.events += (ENGINE_END,)

    def begin(self, node: GhostNode, gradients: Any) -> None:
        if self._recorder.off:
            return
        events = self._tape.events
        at = len(events)
        try:
            with _disabled():
                events += (NODE, node, 0, len(gradients))
                self._note(gradients)
                if self._values is not None:
                    self._values.see_incoming(gradients)
                events[at + 2] = perf_counter_ns()
        except Exception as fault:
            del events[at:]
            self.report(fault)

    def ending(self, node: GhostNode) -> Any:
        """What is called with what the node has produced, and with its gradients."""
        if compiled is None:
            return partial(self.end, node)
        return compiled.NodeEnd(self, self._recorder, self._tape, node)

    def end(self, node: GhostNode, produced: Any, gradients: Any) -> None:
        now = perf_counter_ns()
        recorder, tape = self._recorder, self._tape
        if recorder.off:
            return
        at = len(tape.events)
        try:
            with _disabled():
                thread = get_ident()
                if thread != recorder.thread:
                    recorder.threads.add(thread)
                tape.events += (NODE_END, node, tape.left, now, thread, len(gradients), len(produced))
                self._note(gradients)
                self._note(produced)
                if node.variable is not None:
                    self._note_sum(node.variable.ref())
                if tape.lives is not None:
                    tape.lives.append(None)
                if self._values is not None:
                    self._values.see_node(node, produced, gradients)
        except Exception as fault:
            del tape.events[at:]
            self.report(fault)
        tape.left = perf_counter_ns()

    def report(self, fault: Exception) -> None:
        fence.report("recording a backward op", fault)

    def _note(self, gradients: Any) -> None:
        tape = self._tape
        events, known = tape.events, tape.known
        for gradient in gradients:
            if gradient is None:
                events += (None, None)
                continue
            ghost = known.get(id(gradient))
            if ghost is None or ghost.ref() is not gradient:
                ghost = tape.make(gradient)
            events.append(ghost)
            events.append(gradient._version)

    def _note_sum(self, variable: Any) -> None:
        """What a leaf holds after a gradient has come to it: its version, and the sum."""
        gradient = None if variable is None else variable.grad
        self._tape.events.append(None if variable is None else version_of(variable))
        self._note((gradient,))


class OptimizerTape:
    """Notes each step of an optimizer."""

    def __init__(self, recorder: Recorder, tape: Tape) -> None:
        self._recorder, self._tape = recorder, tape
        subscription = subscribe("recording an optimizer", step_begins=self._begins, step_ends=self._ends)
        recorder.installed.add(subscription.remove)

    def _begins(self, optimizer: Any, args: Any, kwargs: Any, frame: Any) -> None:
        if not self._recorder.listens():
            return
        place = self._recorder.optimizers.place_for(optimizer, frame)
        self._tape.events += (STEP, type(optimizer).__name__, place)
        self._tape.in_step = closure_in(args, kwargs) is None
        self._tape.is_placed = place is not None and self._tape.in_step

    def _ends(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self._recorder.listens():
            return
        self._tape.is_placed = self._tape.in_step = False
        if isinstance(self._tape, ValueTape):
            with _disabled():
                self._tape.see_step(optimizer)
        self._tape.events += (STEP_END,)
        self._tape.name_state(optimizer)
