"""From the tape to drafts: each event is told to the recorder's parts again, with ghosts in place of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

from stepscope.record.arguments import frozen_flat, rebuilt
from stepscope.record.autograd import Nodes
from stepscope.record.backward import Backward
from stepscope.record.op_dataflow import Flow
from stepscope.record.phases import Phases
from stepscope.record.step_builder import CallDraft, OpDraft
from stepscope.record.tape_python import (
    BEGIN,
    CROSS,
    END,
    ENGINE,
    ENGINE_END,
    FAIL,
    HISTORY,
    LEAVE,
    MODULE,
    NODE,
    NODE_END,
    STEP,
    STEP_END,
)  # fmt: skip
from stepscope.record.torch_functions import Functions
from stepscope.record.transforms import write_down

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.record.past_tensors import GhostNode
    from stepscope.record.recorder import Recorder
    from stepscope.record.tape import Tape


class Replay:
    """Reads the tape once, from its beginning."""

    def __init__(self, recorder: Recorder, tape: Tape) -> None:
        self._recorder, self._tape = recorder, tape
        self._events = tape.events
        self._at = 0
        self._counter = tape.first
        recorder.timed = False  # the times are on the tape
        recorder.phases = Phases()
        recorder.nodes = Nodes(lambda: self._counter)
        recorder.flow = Flow(recorder, claims=False)
        recorder.engine = Backward(recorder, replays=True)
        self._functions = Functions(recorder)
        self._running: dict[int, Any] = {}
        """The ops and calls that have begun, by where in the tape they did."""
        self._graphs: list[dict[int, Any]] = []

    def run(self) -> None:
        self._name_ghosts()
        told: dict[int, Callable[[], None]] = {
            BEGIN: self._begin, END: self._end, FAIL: self._fail, MODULE: self._enter, LEAVE: self._leave,
            ENGINE: self._engine, ENGINE_END: self._engine_end, NODE: self._node, NODE_END: self._node_end,
            STEP: self._step, STEP_END: self._recorder.optimizers.end, CROSS: self._cross, HISTORY: self._history,
        }  # fmt: skip
        events = self._events
        while self._at < len(events):
            code = events[self._at]
            self._at += 1
            told[code]()
        self._name_states()
        self._recorder.drafts.looks = self._tape.looks or []
        del self._functions  # they know the counter, which knows this object

    def _take(self, count: int) -> list[Any]:
        found = self._events[self._at : self._at + count]
        self._at += count
        return found

    def _tensors(self, count: int) -> list[Any]:
        """The next tensors, each as it was."""
        found = []
        for ghost, version in zip(*[iter(self._take(2 * count))] * 2, strict=True):
            if ghost is not None:
                ghost.version = version
            found.append(ghost)
        return found

    # Ops

    def _begin(self) -> None:
        start = self._at - 1
        plan, function, code, line, self._counter, began, count = self._take(7)
        if count < 0:
            frozen, count = self._take(2)
            inputs = self._tensors(count)
        else:
            (names,) = self._take(1)
            values = self._take(2 * (count + len(names)))
            for ghost, version in zip(values[::2], values[1::2], strict=True):
                if ghost is not None:
                    ghost.version = version
            frozen, inputs = frozen_flat(function, values, names)
        draft = self._functions.draft(plan, frozen, None if code is None else (code, line))
        draft.began = began
        entries = self._functions.read(draft, plan, inputs, self._counter)
        self._running[start] = (draft, inputs, entries, self._counter, plan, function, frozen)

    def _end(self) -> None:
        start, ended, self._counter, made, outputs, written = self._take(6)
        draft, inputs, entries, sequence, plan, function, frozen = self._running.pop(start)
        results = self._tensors(outputs)
        for ghost, version in zip(inputs, self._take(written), strict=False):
            ghost.version = version
        draft.ended = ended
        if made is not None:
            histories, draft.saved_bytes, self._recorder.nodes.packed = made
            for ghost, node, place in zip(*[iter(histories)] * 3, strict=True):
                ghost.grad_fn, ghost.output_nr = node, place
        args, kwargs = inputs, {} if frozen is None else frozen[2] or {}
        if not results and frozen is not None and plan[1].endswith("_"):  # only then is it asked what they were
            args, kwargs = rebuilt(frozen, inputs)
        self._functions.finish((draft, inputs, entries, sequence, None, plan, function, args, kwargs), results)
        self._recorder.drafts.ended.append(draft)

    def _fail(self) -> None:
        start, error = self._take(2)
        draft, plan = self._running.pop(start)[0], self._events[start + 1]
        self._functions.failed(draft, plan, error)

    def _history(self) -> None:
        ghost, ghost.grad_fn, ghost.output_nr = self._take(3)

    def _cross(self) -> None:
        name, self._counter = self._take(2)
        tensor, result = self._tensors(2)
        write_down(self._recorder, name, tensor, result)

    # Modules and optimizers

    def _enter(self) -> None:
        start = self._at - 1
        entry, root, place, closed, self._counter, began, count = self._take(7)
        call = self._recorder.modules.enter(entry, root, place, self._tensors(count))
        call.began = began
        if closed:
            self._recorder.modules.closed.add(call)
        self._running[start] = call

    def _leave(self) -> None:
        start, error, ended, self._counter, inputs, outputs = self._take(6)
        call: CallDraft = self._running.pop(start)
        call.ended = ended
        read = self._tensors(inputs)
        made = self._tensors(outputs)
        if call in self._recorder.modules.stack:
            self._recorder.modules.leave(call, read, made, error)

    def _step(self) -> None:
        self._recorder.optimizers.begin(*self._take(2))

    # Backward

    def _engine(self) -> None:
        graph, self._counter, count = self._take(3)
        engine = self._recorder.engine
        engine.engine_begins(self._tensors(count))
        known: dict[int, Any] = {}
        if graph is not None:
            ghosts, early = graph
            known = {id(ghost): engine.meet(ghost) for ghost in ghosts}
            engine.met(ghosts, known)
            for ghost, is_early in zip(ghosts, early, strict=True):
                known[id(ghost)].early = is_early
        self._graphs.append(known)

    def _engine_end(self) -> None:
        self._graphs.pop()
        self._recorder.engine.engine_ends()

    def _known(self, ghost: GhostNode) -> Any:
        return next(graph[id(ghost)] for graph in reversed(self._graphs) if id(ghost) in graph)

    def _node(self) -> None:
        ghost, began, count = self._take(3)
        node = self._known(ghost)
        self._recorder.engine.begin(node, self._tensors(count))
        if node.draft is not None:
            node.draft.began = began

    def _node_end(self) -> None:
        ghost, left, ended, thread, count, produced = self._take(6)
        node = self._known(ghost)
        gradients, made = self._tensors(count), self._tensors(produced)
        if ghost.variable is not None:
            ghost.variable.version = self._take(1)[0]
            ghost.variable.grad = self._tensors(1)[0]
        self._recorder.engine.end(node, made, gradients)
        draft: OpDraft | None = node.draft
        if draft is None:
            draft = OpDraft("", "backward", None)
        draft.began, draft.ended = draft.began or left, ended
        draft.thread = 0 if thread == self._recorder.thread else thread
        self._recorder.drafts.ended.append(draft)

    # Names

    def _name_ghosts(self) -> None:
        """Call the ghosts by the names of their tensors."""
        names, known = self._recorder.tensors.names, self._tape.known
        for address, (tensor, kind, called) in list(names.items()):
            ghost = known.get(address)
            if ghost is not None and ghost.ref() is not None and ghost.ref() is tensor():
                names[id(ghost)] = (ref(ghost), kind, called)

    def _name_states(self) -> None:
        """Call the state of a parameter by the parameter's name: `fc.weight/exp_avg`."""
        names, tensors = self._recorder.tensors.names, self._recorder.tensors
        for address, key, ghost in zip(*[iter(self._tape.states)] * 3, strict=True):
            entry = tensors.known(ghost)
            if entry is not None and entry.name is None:
                named = names.get(address)
                owner = named[2][0] if named is not None and named[2] else "parameter"
                entry.kind, entry.name = "state", f"{owner}/{key}"
